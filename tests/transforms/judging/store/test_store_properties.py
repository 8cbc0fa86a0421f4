"""Any sequence of what can be done with a store gives the map that a dictionary gives."""

import tempfile
from dataclasses import replace

import pyarrow.dataset as ds
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from store_harness import key, names, small_files, store_in, verdict

from beamjudge.transforms.judging.store.compaction import Selection, compact, prune
from beamjudge.transforms.judging.store.survey import survey

NUMBERS = st.integers(0, 24)
ROWS = st.sampled_from(["row-1", "row-2", "a", "b", "ü"])


class Stores(RuleBasedStateMachine):
    """Two stores on one folder, always told to look for news, and a dictionary. `stored` is what is on file for sure,
    which a pruning can reach; `put` is all there is."""

    stores = Bundle("stores")

    def __init__(self):
        super().__init__()
        self.small = small_files()
        self.small.__enter__()
        self.root = tempfile.TemporaryDirectory()
        self.now = 0.0
        self.open = []
        self.created = 0
        self.told = {}

    def teardown(self):
        for store in self.open:
            store.close()
        self.root.cleanup()
        self.small.__exit__(None, None, None)

    @rule(target=stores)
    def open_one(self):
        self.open.append(store_in(self.root.name, clock=lambda: self.now))
        return self.open[-1]

    @rule(store=consumes(stores))
    def close_one(self, store):
        store.close()
        self.open.remove(store)

    @rule(store=stores, number=NUMBERS, row=ROWS)
    def put(self, store, number, row):
        self.created += 1
        given = verdict(number, created=float(self.created), rationale=f"{self.created}", request_ids=(row,))
        store.put(given)
        known = self.told.get(given.key)
        self.told[given.key] = replace(given, request_ids=(*(known.request_ids if known else ()), row))

    @rule(store=stores, number=NUMBERS, row=ROWS)
    def get(self, store, number, row):
        self.flush_all()
        found = store.get(key(number), row)
        told = self.told.get(key(number))
        assert (found is None) == (told is None)
        if found and told:
            self.told[told.key] = replace(told, request_ids=(*told.request_ids, row))

    @rule(store=stores)
    def flush(self, store):
        store.flush()

    @rule()
    def compact_some(self):
        compact(self.root.name)

    @rule()
    def compact_all(self):
        self.flush_all()
        compact(self.root.name, everything=True)
        assert len(names(self.root.name, "index-")) == (1 if self.told else 0)
        assert names(self.root.name, "segment-") == []

    @rule(row=ROWS)
    def prune_row(self, row):
        self.flush_all()
        done = prune(self.root.name, Selection(request_ids=frozenset([row])))
        gone = [each for each, told in self.told.items() if row in told.request_ids]
        assert done.removed == len(gone)
        self.forget(gone)

    @rule(age=st.integers(0, 10))
    def prune_old(self, age):
        self.flush_all()
        limit = float(self.created - age)
        done = prune(self.root.name, Selection(created_before=limit))
        gone = [each for each, told in self.told.items() if told.created < limit]
        assert done.removed == len(gone)
        self.forget(gone)

    @invariant()
    def a_new_reader_finds_what_the_dictionary_has(self):
        self.flush_all()
        store = store_in(self.root.name)
        for number in range(25):
            found, told = store.get(key(number)), self.told.get(key(number))
            assert (found is None) == (told is None)
            if found and told:
                assert replace(found, request_ids=()) == replace(told, request_ids=())
        store.close()

    def flush_all(self):
        """Bring all to file, and let every store look for what the others have written."""
        for store in self.open:
            store.flush()
        self.now += 100.0

    def forget(self, gone):
        """What is pruned is known no more; stores that are open may have it in memory, so they are closed."""
        for each in gone:
            del self.told[each]
        assert survey_count(self.root.name) == len(self.told)
        if gone:
            for store in self.open:
                store._recent.clear()


def survey_count(folder):
    return sum(share.verdicts for share in survey(folder).shares.values())


TestStores = Stores.TestCase
TestStores.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_every_file_that_a_compaction_leaves_is_sorted_by_key(tmp_path):
    with small_files():
        store = store_in(tmp_path)
        for number in range(50):
            store.put(verdict(number))
        store.close()
        compact(str(tmp_path))
    parts = names(tmp_path, "part-")
    assert len(parts) == 7  # 50 verdicts in parts of 8
    keys = [each for name in parts for each in ds.dataset(tmp_path / name).to_table()["key"].to_pylist()]
    assert keys == sorted(key(number) for number in range(50))
