"""Colours of what is shown in a notebook, in JupyterLab's light and dark theme."""

# Where a page takes styles away, each `var(--name, colour)` falls back to its light colour.
LIGHT = {
    "back": "#f7f7f7",
    "text": "#1a1a1a",
    "right": "#117733",
    "wrong": "#aa4400",
    "open": "#636363",
    "empty": "#d5d5d5",
}
DARK = {
    "back": "#2a2a2a",
    "text": "#f0f0f0",
    "right": "#7ad69a",
    "wrong": "#ffb07a",
    "open": "#bdbdbd",
    "empty": "#5a5a5a",
}
IN_THE_DARK = '[data-jp-theme-light="false"]'


def colour(name: str) -> str:
    """Returns a colour by what it stands for, as CSS."""
    return f"var(--course-{name},{LIGHT[name]})"


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--course-{name}:{value}" for name, value in colours.items())


# A box takes its colours from the theme of the page around it.
BOXES = f"<style>{IN_THE_DARK} .course-box{{{_variables(DARK)}}}</style>"
# A figure is drawn on white: in the dark its lightness is turned round, and its hues stay what they are.
FIGURES = f"<style>{IN_THE_DARK} .course-figure{{filter:invert(0.93) hue-rotate(180deg)}}</style>"


def box(content: str, edge: str) -> str:
    """Returns HTML in a box with an edge of this CSS colour, which a screen reader reads out when it appears."""
    return (
        f'{BOXES}<div role="status" class="course-box" style="border-left:6px solid {edge};'
        f"background:{colour('back')};color:{colour('text')};"
        f'padding:8px 12px;font-family:sans-serif;font-size:14px;line-height:1.45">{content}</div>'
    )
