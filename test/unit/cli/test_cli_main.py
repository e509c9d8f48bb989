# SPDX-License-Identifier: Apache-2.0
"""The `dglop` command line."""

from __future__ import annotations

import pytest
import yaml

from dglop.cli.main import main


def test_crd_prints_what_kubectl_can_apply(capsys):
    assert main(["crd"]) == 0
    (crd,) = yaml.safe_load_all(capsys.readouterr().out)
    assert crd["metadata"]["name"] == "dgljobs.kubeflow.org"


@pytest.mark.parametrize(("words", "code"), [([], 2), (["--help"], 0), (["fly"], 2), (["crd", "x"], 2)])
def test_wrong_words_are_answered_with_help(words, code, capsys):
    assert main(words) == code
    said = capsys.readouterr()
    assert said.out + said.err


def test_a_wrong_flag_of_the_operator_names_it(capsys):
    assert main(["operator", "--lease-duration", "1"]) == 2
    assert "renew_deadline" in capsys.readouterr().err


def test_the_version_is_printed(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("dglop ")
