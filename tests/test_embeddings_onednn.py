"""Linear layers on oneDNN: the same vectors, and the model's own layers where they are needed."""

import numpy as np
import pytest
import torch
from torch import nn

from sagebench.embeddings import onednn

pytestmark = pytest.mark.skipif(not onednn._available(), reason="torch has no oneDNN here")


class Net(nn.Module):
    """Two layers; `reads` its second layer's weights itself."""

    def __init__(self, reads=False):
        super().__init__()
        self.inner, self.reads = nn.Sequential(nn.Linear(16, 32), nn.GELU()), reads
        self.outer = nn.Linear(32, 8, bias=False)

    def forward(self, x):
        x = self.inner(x)
        return nn.functional.linear(x, self.outer.weight) if self.reads else self.outer(x)


def output(net):
    x = torch.linspace(-1, 1, 48).reshape(3, 16)
    with torch.inference_mode():
        return net(x).numpy()


@pytest.mark.parametrize("shape", [(16,), (3, 16), (2, 3, 16)])
def test_values_are_those_of_the_plain_layers(shape):
    torch.manual_seed(0)
    net, x = Net(), torch.randn(shape)
    with torch.inference_mode():
        plain = net(x)
        assert onednn.use(net, lambda: output(net))
        assert type(net.inner[0]) is not nn.Linear
        assert type(net.outer) is not nn.Linear
        assert net.outer.weight.dtype == torch.float32
        np.testing.assert_allclose(net(x), plain, atol=1e-6)


def test_a_model_that_reads_its_weights_keeps_its_layers():
    net = Net(reads=True)
    before = output(net)
    assert not onednn.use(net, lambda: output(net))
    assert type(net.inner[0]) is type(net.outer) is nn.Linear
    np.testing.assert_array_equal(output(net), before)


def test_values_that_move_too_far_bring_the_layers_back(monkeypatch):
    net = Net()
    monkeypatch.setattr(onednn, "_packed", lambda layer: nn.Linear(*layer.weight.shape[::-1]))
    assert not onednn.use(net, lambda: output(net))
    assert type(net.outer) is nn.Linear


def test_other_precisions_and_other_machines_are_left_alone(monkeypatch):
    net = Net().bfloat16()
    layer = net.outer
    x = torch.ones(1, 16, dtype=torch.bfloat16)
    assert not onednn.use(net, lambda: net(x).detach().float().numpy())
    assert net.outer is layer
    monkeypatch.setattr(onednn, "_available", lambda: False)
    assert not onednn.use(Net(), lambda: pytest.fail("nothing to try"))
