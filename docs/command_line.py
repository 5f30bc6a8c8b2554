"""Fills the page on the command line from the commands themselves, when the site is built."""

import re
from typing import Any

import typer.main

from noregret.cli.main import app


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs calls this for every page; one of them is filled."""
    if page.file.src_uri != "reference/command-line.md":
        return markdown
    return markdown + "\n" + commands_as_markdown()


def commands_as_markdown() -> str:
    """Every command with its arguments, options and example."""
    group: Any = typer.main.get_command(app)
    commands = group.commands
    lines = ["| command | what it does |", "|---|---|"]
    lines += [
        f"| [`{name}`{{.option}}](#{_anchor(name)}) | {_first_sentence(command.help)} |"
        for name, command in commands.items()
    ]
    for name, command in commands.items():
        lines += ["", *_section(name, command)]
    return "\n".join(lines) + "\n"


def _anchor(name: str) -> str:
    return f"noregret-{name}"


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _section(name: str, command: Any) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    names = [_metavar(one) if one.required else f"[{_metavar(one)}]" for one in arguments]
    usage = " ".join(["noregret", name, *names, "[OPTIONS]"])
    lines = [f"## noregret {name}", ""]
    for paragraph in command.help.split("\n\n"):
        lines += [_plain(" ".join(paragraph.split())), ""]
    lines += ["```text", usage, "```", "", "| argument or option | what it is |", "|---|---|"]
    lines += [f"| `{_metavar(one)}` | {_plain(_help(one))} |" for one in arguments]
    lines += [f"| {_names(one)} | {_plain(_help(one))} |" for one in options if not _is_help(one)]
    if command.epilog:
        lines += ["", _example(command.epilog)]
    return lines


def _is_help(option: Any) -> bool:
    return "--help" in option.opts


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _names(option: Any) -> str:
    names = [f"`{name}`{{.option}}" for name in (*option.opts, *option.secondary_opts)]
    return ", ".join(names) + f" {_plain(_kind(option))}".rstrip()


def _kind(option: Any) -> str:
    """The word that stands for what follows the option; empty for a switch."""
    return str(option.metavar or "")


def _help(parameter: Any) -> str:
    text = " ".join((getattr(parameter, "help", None) or "").split())
    default = parameter.default
    no_default = isinstance(default, bool) or default in (None, (), [], "")
    if no_default or callable(default) or parameter.required:
        return text
    return f"{text} Default: `{default}`."


def _plain(text: str) -> str:
    """Text for a cell of a table: no bar ends it, no markup of the terminal is left."""
    text = re.sub(r"\[/?[a-z ]+\]", "", text)
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _example(epilog: str) -> str:
    text = " ".join(epilog.split())
    return re.sub(r"^Example: (.*)$", r"Example: `\1`", text)
