"""`dvc push` and `dvc pull` with the committed DVC configuration: a folder, SSH, S3, on loopback.

How the pipeline's own artifacts survive a pull is tested elsewhere; here it is the way there and
back, for a small folder of files that are awkward in each their own way.
"""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from workflow_support import ROOT

pytestmark = pytest.mark.workflow

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
FILES = {
    "empty.parquet": b"",
    "a name with spaces & ümläuts.parquet": b"\0\xff" * 1000,
    "deep/er/scores.parquet": b"scores",
    "large.parquet": bytes(range(256)) * 20_000,
}


class Repository:
    """A Git repository with this project's .dvc and one tracked folder, in a home of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home

    @classmethod
    def create(cls, place: Path) -> "Repository":
        made = cls(place / "project", place / "home")
        made.home.mkdir()
        leave = shutil.ignore_patterns("cache", "tmp", "config.local")
        shutil.copytree(ROOT / ".dvc", made.folder / ".dvc", ignore=leave)
        for name, content in FILES.items():
            path = made.folder / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        made.run("git", "init", "-q")
        made.run("dvc", "add", "-q", "data")
        made.run("git", "add", "-A")
        made.run("git", "commit", "-q", "-m", "data")
        return made

    def clone(self) -> "Repository":
        """A fresh clone, with neither data nor cache."""
        other = type(self)(self.folder.with_name("clone"), self.home)
        self.run("git", "clone", "-q", str(self.folder), str(other.folder))
        return other

    def run(self, *command: str) -> str:
        done = self.attempt(*command)
        assert done.returncode == 0, f"{command}:\n{done.stdout}"
        return done.stdout

    def attempt(self, *command: str) -> "subprocess.CompletedProcess[str]":
        tools = str(Path(sys.executable).parent)
        environment = os.environ | {
            "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"),
            "PATH": tools + os.pathsep + os.environ["PATH"],
            "AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
            "NO_PROXY": "127.0.0.1", "COLUMNS": "200",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        }  # fmt: skip
        environment.pop("SSH_AUTH_SOCK", None)  # no key but the test's own
        return subprocess.run(
            command, cwd=self.folder, env=environment, text=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def use(self, url: str, **options: str) -> None:
        """Another default remote, as the docs say: in config.local, which is never committed."""
        self.run("dvc", "remote", "add", "--local", "-d", "other", url)
        for name, value in options.items():
            self.run("dvc", "remote", "modify", "--local", "other", name, value)

    def contents(self) -> dict[str, bytes]:
        data = self.folder / "data"
        return {
            path.relative_to(data).as_posix(): path.read_bytes()
            for path in data.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path)


def test_a_folder_is_the_remote_by_default(repository):
    assert "file" in repository.run("dvc", "push")
    clone = repository.clone()
    clone.run("dvc", "pull")
    assert clone.contents() == FILES
    assert "up to date" in clone.run("dvc", "status")
    assert not repository.run("git", "status", "--porcelain")


def test_another_folder_is_the_remote_when_asked_for(repository, tmp_path):
    repository.use(str(tmp_path / "shelf"))
    repository.run("dvc", "push")
    assert any((tmp_path / "shelf/files/md5").rglob("*"))
    _pulls_the_same_bytes_twice(repository, str(tmp_path / "shelf"))


def test_a_folder_that_does_not_hold_the_files_is_named(repository, tmp_path):
    clone = repository.clone()
    clone.use(str(tmp_path / "nowhere"))
    _fails(clone, "pull", "Checkout failed for following targets:\ndata")


@pytest.fixture
def ssh_port(tmp_path: Path) -> Iterator[int]:
    """OpenSSH's server on loopback, for this user, with a key that the test has made."""
    pytest.importorskip("dvc_ssh", reason="the extra `remotes` is not installed")
    if SSHD is None:
        pytest.skip("sshd is not installed (Debian: apt-get install openssh-server)")
    for name in ("host", "user"):
        key = str(tmp_path / f"{name}_key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    if (
        os.geteuid() == 0
    ):  # sshd started by root insists on this folder; an unprivileged one does not
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    port = _free_port()
    config = tmp_path / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {tmp_path}/host_key\n"
        f"AuthorizedKeysFile {tmp_path}/user_key.pub\nPidFile none\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nSubsystem sftp internal-sftp\n",
        encoding="utf-8",
    )
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(config)], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait()


def test_ssh(repository, ssh_port, tmp_path):
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{ssh_port}{tmp_path}/over there"
    key = str(tmp_path / "user_key")
    repository.use(url, keyfile=key)
    repository.run("dvc", "push")
    assert any((tmp_path / "over there/files/md5").rglob("*"))
    _pulls_the_same_bytes_twice(repository, url, keyfile=key)


def test_a_wrong_key_and_a_silent_port_of_ssh_are_named(repository, ssh_port, tmp_path):
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "stranger"], check=True
    )
    user = getpass.getuser()
    repository.use(f"ssh://{user}@127.0.0.1:{ssh_port}{tmp_path}/x", keyfile=f"{tmp_path}/stranger")
    _fails(repository, "push", "Permission denied")
    repository.run("dvc", "remote", "modify", "--local", "other", "port", str(_free_port()))
    _fails(repository, "push", "Connect call failed", "Connection refused")


@pytest.fixture
def s3_endpoint() -> Iterator[str]:
    """Moto's S3 server on loopback, with a bucket called `bench`."""
    pytest.importorskip("dvc_s3", reason="the extra `remotes` is not installed")
    moto = pytest.importorskip("moto.server", reason="the extra `remotes` is not installed")
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "reader", "aws_secret_access_key": "secret"}
    boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys).create_bucket(
        Bucket="bench"
    )
    yield url
    server.stop()


def test_s3(repository, s3_endpoint):
    repository.use("s3://bench/sage", endpointurl=s3_endpoint)
    repository.run("dvc", "push")
    _pulls_the_same_bytes_twice(repository, "s3://bench/sage", endpointurl=s3_endpoint)


def test_a_missing_bucket_and_a_silent_port_of_s3_are_named(repository, s3_endpoint):
    repository.use("s3://no-such-bucket/sage", endpointurl=s3_endpoint)
    _fails(repository, "push", "bucket does not exist")
    silent = f"http://127.0.0.1:{_free_port()}"
    repository.run("dvc", "remote", "modify", "--local", "other", "endpointurl", silent)
    _fails(repository, "push", "Could not connect to the endpoint URL")


def _pulls_the_same_bytes_twice(repository: Repository, url: str, **options: str) -> None:
    """Into a fresh clone, and back into the project itself after its data and cache are gone."""
    clone = repository.clone()
    clone.use(url, **options)
    for place in (clone, repository):
        shutil.rmtree(place.folder / "data", ignore_errors=True)
        shutil.rmtree(place.folder / ".dvc/cache", ignore_errors=True)
        place.run("dvc", "pull")
        assert place.contents() == FILES
        assert "up to date" in place.run("dvc", "status")


def _fails(repository: Repository, action: str, *one_of: str) -> None:
    """The action fails within the time limit, with one of the sentences and no traceback."""
    done = repository.attempt("dvc", action)
    assert done.returncode != 0
    assert any(sentence in done.stdout for sentence in one_of), done.stdout
    assert "Traceback" not in done.stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"no server answers on port {port}")
