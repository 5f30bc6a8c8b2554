"""Pieces of work: computed once, stored, shared."""

import pytest
from small_experiment import dies, squares

from noregret.experiments import bkb
from noregret.experiments.tasks import Store, Task, compute, labels


def test_an_answer_carries_its_arguments():
    frame = Task(squares, {"seed": 3, "power": 2}).compute()
    assert frame["seed"].to_list() == [3, 3, 3]
    assert frame["power"].to_list() == [2, 2, 2]


def test_the_key_depends_on_function_and_arguments_only():
    one = Task(squares, {"seed": 3, "power": 2})
    assert one.key == Task(squares, {"power": 2, "seed": 3}).key
    assert one.key != Task(squares, {"seed": 4, "power": 2}).key
    assert one.key != Task(bkb.starvation, {"seed": 3, "power": 2}).key


def test_equal_tasks_are_computed_once(tmp_path):
    begun: list[Task] = []
    task = Task(squares, {"seed": 0, "power": 1})
    done = list(compute([task, task], Store(tmp_path), 1, begun.append))
    assert len(done) == len(begun) == 1


def test_stored_tasks_are_not_computed_again(tmp_path):
    tasks = [Task(squares, {"seed": seed, "power": 1}) for seed in range(3)]
    store = Store(tmp_path)
    store.write(tasks[1], tasks[1].compute())
    begun: list[Task] = []
    assert len(list(compute(tasks, store, 1, begun.append))) == 3
    assert [task.arguments["seed"] for task in begun] == [0, 2]


def test_an_error_of_a_cell_reaches_the_caller(tmp_path):
    wrong = Task(squares, {"seed": -1, "power": 1})
    for jobs in (1, 2):
        with pytest.raises(ValueError, match="non-negative"):
            list(compute([wrong], Store(tmp_path), jobs, lambda task: None))
    assert not list(tmp_path.glob("*"))


def test_a_damaged_answer_is_computed_again(tmp_path):
    task, store = Task(squares, {"seed": 0, "power": 1}), Store(tmp_path)
    ((_, whole),) = compute([task], store, 1, lambda task: None)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    ((_, again),) = compute([task], store, 1, lambda task: None)
    assert again["value"].equals(whole["value"])
    assert store.read(task) is not None


def test_a_worker_that_dies_is_reported(tmp_path):
    with pytest.raises(ChildProcessError, match="fewer jobs"):
        list(compute([Task(dies)], Store(tmp_path), 2, lambda task: None))


def test_labels_are_what_tasks_differ_in():
    tasks = [Task(squares, {"seed": s, "power": p, "name": "x"}) for s, p in ((0, 2), (1, 2))]
    assert list(labels(tasks).values()) == ["seed 0", "seed 1"]
    assert list(labels(tasks[:1]).values()) == ["squares"]
