"""The look of the studio: one type scale, calm colours, light and dark, in one stylesheet.

Colours that mean something come from the registries: those of roles are named in `keepsense.project.roles`.
"""

from __future__ import annotations

from pathlib import Path

from keepsense.guide.flowchart_drawing import STYLE as FLOWCHART

SIZES = {"small": "0.8125rem", "text": "0.9375rem", "large": "1.125rem", "title": "1.5rem"}
"""The type scale: four sizes, and no other."""

LIGHT = {
    "ink": "#1d2a2a",
    "muted": "#52605f",
    "paper": "#f4f6f5",
    "box": "#ffffff",
    "soft": "#e4f0ee",
    "rule": "#d9e1df",
    "line": "#7b8f8f",
    "accent": "#00695c",
    "on-accent": "#ffffff",
    "ask": "#fff6dc",
    "good": "#1b6e3c",
    "bad": "#b3261e",
    "bad-soft": "#fdeceb",
    "before": "#9aa9a8",
    "after": "#00796b",
    "red": "#b3261e",
    "yellow": "#7a5b00",
    "purple": "#6a3fa0",
    "green": "#2b6b34",
    "blue": "#1f5fa8",
    "grey": "#55605f",
    "red-edge": "#d9534a",
    "yellow-edge": "#e3b21c",
    "purple-edge": "#8d63c6",
    "green-edge": "#4b9c57",
    "blue-edge": "#3f86d6",
    "grey-edge": "#9aa9a8",
    "red-soft": "#fbe4e2",
    "yellow-soft": "#fdf0c4",
    "purple-soft": "#eee4f8",
    "green-soft": "#e0f1e1",
    "blue-soft": "#e1ecf9",
    "grey-soft": "#e9edec",
}
"""Colours by what they are for, on light ground."""

DARK = {
    "ink": "#e4ecec",
    "muted": "#a3b4b3",
    "paper": "#121818",
    "box": "#1a2222",
    "soft": "#173532",
    "rule": "#2d3a3a",
    "line": "#7d9493",
    "accent": "#5cc4b8",
    "on-accent": "#08201d",
    "ask": "#35301a",
    "good": "#81c995",
    "bad": "#ff9d94",
    "bad-soft": "#45211f",
    "before": "#64757a",
    "after": "#5cc4b8",
    "red": "#ff9d94",
    "yellow": "#f2cc60",
    "purple": "#cdb2f4",
    "green": "#8fd19a",
    "blue": "#93c0f5",
    "grey": "#b3c0bf",
    "red-edge": "#d9635b",
    "yellow-edge": "#cfa52a",
    "purple-edge": "#9d79d6",
    "green-edge": "#58a865",
    "blue-edge": "#5a97dc",
    "grey-edge": "#6f807f",
    "red-soft": "#45211f",
    "yellow-soft": "#3a3216",
    "purple-soft": "#33264a",
    "green-soft": "#1c3822",
    "blue-soft": "#1b3350",
    "grey-soft": "#2a3534",
}
"""The same on dark ground."""


def stylesheet() -> str:
    """The whole stylesheet.

    >>> "--accent: #00695c" in stylesheet(), stylesheet().count("http")
    (True, 0)
    """
    rules = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    light = "".join(f"--{name}: {value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}: {value};" for name, value in DARK.items())
    sizes = "".join(f"--{name}-size: {value};" for name, value in SIZES.items())
    roles = "".join(
        f".role-{colour} {{ color: var(--{colour}); background: var(--{colour}-soft); }}\n"
        f".edge-{colour} {{ border-left-color: var(--{colour}-edge); }}\n"
        for colour in ("red", "yellow", "purple", "green", "blue", "grey")
    )
    groups = (
        "".join(
            f"tr.g{i} td {{ background: color-mix(in srgb, var(--{colour}-edge) 22%, transparent); }}\n"
            for i, colour in enumerate(("blue", "yellow", "green", "purple", "red", "grey", "accent", "line"))
        )
        .replace("--accent-edge", "--accent")
        .replace("--line-edge", "--line")
    )
    return f":root {{ {light} {sizes} }} body.body--dark {{ {dark} }}\n{rules}{roles}{groups}{FLOWCHART}"
