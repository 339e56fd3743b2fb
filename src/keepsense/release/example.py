"""An example with twenty synthetic people: their table, a hierarchy of their jobs, and a project."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from keepsense.engines.protocol import engine
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.project.project_file import Project
from keepsense.release.job.job import Job
from keepsense.secure_random import generator

if TYPE_CHECKING:
    from keepsense.release.run import Outcome

_JOBS = {"nurse": "medic", "surgeon": "medic", "clerk": "office worker", "accountant": "office worker"}
_ILL = ("flu", "cold", "asthma")
_LIKES = ("tea;chess", "chess", "tea", "football;tea", "football")


def example_job(**changes: Any) -> Job:
    """A project, opened as `run` opens it; `changes` replace sections of its project file.

    The files lie in a folder of the engine and vanish with it, a release made there too.

    >>> job = example_job(privacy=[{"model": "k-anonymity", "k": 3}])
    >>> job.quasi_identifiers, job.counts.total, job.models
    (('age', 'job'), 20, [KAnonymity(k=3)])
    """
    running = engine()
    jobs = list(_JOBS)
    rows = [f"{i},{20 + 10 * (i % 4) + 5 * (i // 10)},{jobs[i % 4]},{_ILL[i % 3]},{_LIKES[i % 5]}" for i in range(20)]
    people = running.scratch("people.csv")
    people.write_text("\n".join(["id,age,job,illness,likes", *rows, ""]), encoding="utf-8")
    tree = [f"{job};{kind};*" for job, kind in _JOBS.items()]
    people.with_name("jobs.csv").write_text("\n".join([*tree, ""]), encoding="utf-8")
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "kind": "numeric"},
            "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
            "illness": {"role": "sensitive"},
            "likes": {"role": "insensitive", "kind": "set", "delimiter": ";"},
        },
        "privacy": [KAnonymity(4).promise()],
    }
    return Job(Project.model_validate({**data, **changes}), people.parent, running, generator(1))


def example_release() -> Outcome:
    """The release of that project, made once and kept until the program ends.

    >>> done = example_release()
    >>> done.name, done.verification.ok, done.recodings[0].levels
    ('people.csv', True, (1, 0))
    """
    return _made()[1]


@cache
def _made() -> tuple[Job, Outcome]:
    from keepsense.release.run import run

    job = example_job()  # kept too: the release lies in its folder
    return job, run(job.project, folder=job.folder, rng=1)
