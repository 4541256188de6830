"""Banking77 by MTEB's classification protocol: a logistic regression on few examples a class."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sagebench.embeddings.threads import one_thread
from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors

_EXPERIMENTS, _PER_CLASS, _ITERATIONS = 10, 8, 100
_SEED = 42  # MTEB's; it starts every experiment anew, which is why the order is shuffled on


@dataclass(frozen=True)
class Banking77:
    """Customers' questions and their intents, split as published."""

    train: list[str]
    train_labels: list[str]
    test: list[str]
    test_labels: list[str]

    @classmethod
    def read(cls, folder: Folder) -> "Banking77":
        """Both parts, rows in the files' order: the draw of the examples depends on it."""
        parts: list[list[str]] = []
        for part, wanted in (("train", 10_003), ("test", 3_080)):
            name = f"clustering/banking77/{part}.csv"
            rows = folder.table(name, "text", "category")
            folder.count(name, len(rows), wanted)
            parts += [[row["text"] for row in rows], [row["category"] for row in rows]]
        return cls(*parts)

    @property
    def texts(self) -> list[str]:
        """The texts that are drawn, and those to be classified."""
        drawn = {place for draw in self.draws() for place in draw}
        return [self.train[place] for place in sorted(drawn)] + self.test

    def draws(self) -> list[list[int]]:
        """Per experiment the rows of the training part: the first eight a class, shuffled."""
        order = np.arange(len(self.train))
        found = []
        for _ in range(_EXPERIMENTS):
            np.random.RandomState(_SEED).shuffle(order)
            taken: Counter[str] = Counter()
            drawn = []
            for place in order.tolist():
                label = self.train_labels[place]
                if taken[label] < _PER_CLASS:
                    taken[label] += 1
                    drawn.append(place)
            found.append(drawn)
        return found

    def scores(self, vectors: Vectors) -> dict[str, Any]:
        """Accuracy and F1 (macro, weighted): means over the experiments, and each of them."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import accuracy_score, f1_score

        one_thread()
        asked = vectors.matrix(self.test)
        runs = []
        for drawn in self.draws():
            model = LogisticRegression(random_state=_SEED, max_iter=_ITERATIONS)
            examples = vectors.matrix([self.train[place] for place in drawn])
            model.fit(examples, [self.train_labels[place] for place in drawn])
            found = model.predict(asked)
            runs.append(
                {
                    "accuracy": float(accuracy_score(self.test_labels, found)),
                    "f1": float(f1_score(self.test_labels, found, average="macro")),
                    "f1_weighted": float(f1_score(self.test_labels, found, average="weighted")),
                }
            )
        means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        return means | {"scores_per_experiment": runs}
