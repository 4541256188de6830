"""A real SLURM of one node on loopback, in a folder of its own, for as long as a test needs it."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel")
# Without accounting the plugin asks squeue, which knows ended jobs for MinJobAge seconds.
_CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MinJobAge=7200
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why no SLURM can be brought up here; empty if one can."""
    if os.geteuid() != 0:
        return "SLURM's daemons are started as root"
    lacking = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return (
        f"{', '.join(lacking)} not installed (Debian: apt-get install slurm-wlm munge)"
        if lacking
        else ""
    )


def _path() -> str:
    return os.pathsep.join([os.environ["PATH"], "/usr/local/sbin", "/usr/sbin", "/sbin"])


class Slurm:
    """`with Slurm(cpus=2) as slurm: …`; `slurm.environment` is what its commands need."""

    def __init__(self, cpus: int, memory: int = 8000) -> None:
        """`memory` in MB is what SLURM hands out; it is not enforced."""
        # A short path, for munge's socket; the tests' own folders are too deep.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._write(cpus, memory)
        tools = [str(self.folder / "bin"), str(Path(sys.executable).parent), _path()]
        self.environment = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": os.pathsep.join(tools),
        }

    def __enter__(self) -> "Slurm":
        try:
            munge = self.folder / "munge"
            self._start(
                "munged", "--foreground", "--force", f"--key-file={munge}/key",
                f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--seed-file={munge}/seed",
            )  # fmt: skip
            self._wait((munge / "socket").exists, "munge's socket")
            self._start("slurmctld", "-D", "-i")
            self._start("slurmd", "-D")
            self._wait(lambda: self.ask("sinfo", "-h", "-o", "%T") == "idle", "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End what runs, the node before its controller before the keeper of the key."""
        if len(self._daemons) > 1:
            self.ask("scancel", "--quiet", "--user", "root")
            self._wait(lambda: not self.ask("squeue", "-h"), "the last job's end")
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait(timeout=30)
        shutil.rmtree(self.folder)

    def ask(self, *command: str) -> str:
        """A SLURM command's output."""
        done = subprocess.run(
            command, env=os.environ | self.environment, text=True, check=False, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout.strip()

    def _write(self, cpus: int, memory: int) -> None:
        for name in ("munge", "state", "spool", "bin"):
            (self.folder / name).mkdir()
        for folder in (self.folder, self.folder / "munge"):
            folder.chmod(0o711)  # munge wants its socket to be reachable
        key = self.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        config = self.folder / "slurm.conf"
        config.write_text(
            _CONFIG.format(
                host=socket.gethostname().split(".")[0], folder=self.folder, cpus=cpus,
                memory=memory, controller=_free_port(), daemon=_free_port(),
            ),
            encoding="utf-8",
        )  # fmt: skip
        # Snakemake's plugin takes SLURM_* out of the environment of srun, which then reads
        # /etc/slurm; this folder's srun finds its own cluster again.
        srun = self.folder / "bin/srun"
        real = shutil.which("srun", path=_path())
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={config} exec {real} "$@"\n', encoding="utf-8")
        srun.chmod(0o755)

    def _start(self, *command: str) -> None:
        with open(self.folder / f"{command[0]}.log", "wb") as log:
            daemon = subprocess.Popen(
                command, env=os.environ | self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._daemons.append(daemon)

    def _wait(self, condition, what: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            ended = [daemon.args[0] for daemon in self._daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = "".join(
                    f"\n{path.name}: {path.read_text(errors='replace')[-1500:]}"
                    for path in sorted(self.folder.glob("*.log"))
                )
                raise AssertionError(f"{what}: not there after {seconds} s; ended: {ended}{logs}")
            time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
