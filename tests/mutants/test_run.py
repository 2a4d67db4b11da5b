#!/usr/bin/env python3
"""Tests of run.py without a build, and of the list: every expression occurs once, and every recipe exists."""

import pathlib
import unittest

import run

FOLDER = pathlib.Path(__file__).parent
CODE = "const fn get(&self) -> f64 { a + b }\n#[cfg(test)]\nmod tests { a + b }\n"


def fault(number, find="a + b", replace="a"):
    return {"name": f"fault {number}", "number": number, "find": find, "replace": replace}


def is_balanced(text):
    """Whether each bracket has its counterpart."""
    pairs, left = {")": "(", "]": "[", "}": "{"}, []
    for character in text:
        if character in pairs.values():
            left.append(character)
        elif character in pairs and (not left or left.pop() != pairs[character]):
            return False
    return not left


class TheTool(unittest.TestCase):
    def test_all_faults_of_an_expression_share_one_switch(self):
        changed = run.with_faults("a.rs", CODE, [fault(1), fault(2, replace="b")])
        switch = "(if crate::has_fault(1) { a } else if crate::has_fault(2) { b } else { a + b })"
        self.assertEqual(changed.splitlines()[0], f"fn get(&self) -> f64 {{ {switch} }}")

    def test_tests_have_no_faults(self):
        self.assertTrue(run.with_faults("a.rs", CODE, [fault(1)]).endswith(CODE.partition("\n")[2]))

    def test_an_expression_must_occur_once(self):
        for code in ("a + b; a + b", "a - b"):
            with self.assertRaisesRegex(SystemExit, "fault 1: a.rs has"):
                run.with_faults("a.rs", code, [fault(1)])

    def test_a_name_must_occur_once(self):
        with self.assertRaisesRegex(SystemExit, "names occur twice: x"):
            run.read_mutants('[[mutant]]\nname = "x"\n' * 2)

    def test_a_fault_outside_of_the_protocols_has_a_path_and_the_switch_of_its_crate(self):
        path = run.source_path("crates/sim/src/applications/call.rs")
        self.assertEqual(run.library_root(path), pathlib.Path("crates/sim/src/lib.rs"))
        faulty = run.faulty_sources([dict(fault(1, "rate.clamp(least, most)", "rate"), file=str(path))])
        self.assertEqual(sorted(faulty), [path, run.library_root(path)])
        self.assertIn("if crate::has_fault(1) { rate }", faulty[path])
        self.assertTrue(faulty[run.library_root(path)].endswith(run.SWITCH))
        self.assertNotIn(run.SWITCH, faulty[path])

    def test_a_survey_runs_all_recipes_of_the_paper(self):
        recipes = run.recipes_of({"recipes": ["mcp/fig3"]}, survey=True)
        self.assertIn("mcp/fig10", recipes)
        self.assertNotIn("mcp/paper", recipes)


class TheList(unittest.TestCase):
    def setUp(self):
        self.mutants = run.read_mutants((FOLDER / "mutants.toml").read_text())

    def test_there_are_at_least_sixty_faults(self):
        self.assertGreaterEqual(len(self.mutants), 60)

    def test_every_expression_occurs_once(self):
        run.faulty_sources(self.mutants)

    def test_every_fault_is_a_whole_expression(self):
        for mutant in self.mutants:
            for text in (mutant["find"], mutant["replace"]):
                self.assertTrue(is_balanced(text), f"{mutant['name']}: {text}")

    def test_every_recipe_exists(self):
        for mutant in self.mutants:
            self.assertTrue(mutant["recipes"], mutant["name"])
            for recipe in mutant["recipes"]:
                self.assertTrue((run.ROOT / "papers" / f"{recipe}.toml").is_file(), recipe)


if __name__ == "__main__":
    unittest.main()
