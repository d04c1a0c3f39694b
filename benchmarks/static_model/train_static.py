"""Train the packaged static embedding table: one vector per WordPiece token, read with numpy alone.

A sentence encoder, the teacher, reads many short texts under permissive licences; a table of token vectors is then
fitted so that the normalised sum of a text's rows points where the teacher's vector points. The steps, in order:

    texts   the sources to passages and headings
    teach   the teacher's vector of each text and each token; may be stopped and goes on where it was
    train   one run; several may be averaged
    export  the trained runs to the packaged files
    oracle  the tokenizer's reference cases

`README.md` beside this file gives the commands of the packaged table. Needs numpy, torch, onnxruntime and tokenizers.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from export import export, write_oracle
from passages import make_texts
from teacher import teach
from training import train


def make_parser() -> ArgumentParser:
    """Return the parser of the five steps."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)

    def add_step(name: str, act: Callable[[Namespace], None], *folders: str) -> ArgumentParser:
        step = steps.add_parser(name)
        step.set_defaults(act=act)
        for folder in folders:
            step.add_argument(f"--{folder}", type=Path, required=True)
        return step

    add_step("texts", make_texts, "sources", "work")
    add_step("teach", teach, "teacher", "work").add_argument("--threads", type=int, default=2)
    add_training_options(add_step("train", train, "teacher", "work"))
    step = add_step("export", export, "teacher", "work", "out")
    step.add_argument("--names", required=True, help="the runs to average, separated by commas")
    step.add_argument("--power", type=float, default=0.25, help="power of the rarity weights that are folded in")
    add_step("oracle", write_oracle, "teacher", "reference")
    return parser


def add_training_options(step: ArgumentParser) -> None:
    """Add what one run may vary."""
    step.add_argument("--name", required=True, help="name of this run")
    step.add_argument("--dimensions", type=int, default=256)
    step.add_argument("--epochs", type=int, default=4)
    step.add_argument("--batch", type=int, default=512)
    step.add_argument("--rate", type=float, default=4e-3, help="Adam's rate at its highest")
    step.add_argument("--pairs", type=float, default=0.03, help="weight of the contrastive loss")
    step.add_argument("--init", type=float, default=1.2, help="length of the start")
    step.add_argument("--drop", type=float, default=0.0, help="share of the tokens that are hidden")
    step.add_argument("--threads", type=int, default=2)


if __name__ == "__main__":
    chosen = make_parser().parse_args()
    chosen.act(chosen)
