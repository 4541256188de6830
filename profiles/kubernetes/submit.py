"""Give kubectl a Job that runs a Snakemake jobscript on the shared volume; print its name.

The pod is told apart from this one by nothing but its size: same image, same volume at the same
place, same folder. SAGEBENCH_IMAGE, SAGEBENCH_CLAIM and SAGEBENCH_MOUNT name them.
"""

import argparse
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path


def job(options: argparse.Namespace, image: str, claim: str, mount: str) -> dict:
    """The manifest. Memory is a limit, so that a greedy job ends alone; cores are a share."""
    limits = {"memory": f"{options.mem_mb}M"}
    if options.gpus:
        limits["nvidia.com/gpu"] = str(options.gpus)
    container = {
        "name": "snakemake",
        "image": image,
        "command": ["/bin/sh", str(options.jobscript.resolve())],
        "workingDir": str(Path.cwd()),
        "env": [{"name": "PYTHONUTF8", "value": "1"}],
        "resources": {"requests": {"cpu": str(options.cpus), **limits}, "limits": limits},
        "volumeMounts": [{"name": "shared", "mountPath": mount}],
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": claim}}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"sagebench-{uuid.uuid4()}", "labels": {"app": "sagebench"}},
        "spec": {
            "backoffLimit": 0,  # Snakemake tries again, with more memory
            "activeDeadlineSeconds": options.minutes * 60,
            "ttlSecondsAfterFinished": 86400,
            "template": {"metadata": {"labels": {"app": "sagebench"}}, "spec": pod},
        },
    }


def main() -> None:
    """Read the sizes, submit, print the name."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--cpus", "--mem-mb", "--minutes", "--gpus"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("jobscript", type=Path)
    names = ("SAGEBENCH_IMAGE", "SAGEBENCH_CLAIM", "SAGEBENCH_MOUNT")
    if missing := [name for name in names if not os.environ.get(name)]:
        sys.exit(f"set {', '.join(missing)}: see docs/cluster.md")
    manifest = job(parser.parse_args(), *(os.environ[name] for name in names))
    subprocess.run(
        ["kubectl", "create", "-f", "-"],  # noqa: S607  (whichever the image has)
        input=json.dumps(manifest), text=True, check=True,
        stdout=sys.stderr,
    )  # fmt: skip
    sys.stdout.write(manifest["metadata"]["name"] + "\n")


if __name__ == "__main__":
    main()
