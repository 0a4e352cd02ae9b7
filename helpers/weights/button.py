"""A button in a notebook that fetches a real model: its size and its licence stand on it."""

from ipywidgets import HTML, Button, Layout, Output, VBox

from helpers.weights.fetching import REAL, WeightsError, fetch, problem

NAMES = {"smollm2": "SmolLM2", "minilm": "MiniLM"}  # as people say them


def fetch_button(name: str) -> VBox:
    """Returns a button "Fetch SmolLM2 (93 MB, Apache 2.0)", below which a bar and what became of it appear.

    Where the model can be read already, there is a sentence in place of the button.

    Raises:
        ValueError: no real model has this name.
    """
    why, said = problem(name), NAMES.get(name, name)
    if not why:
        return VBox([HTML(f"{said} is here: go on with the next cell.")])
    real, shown = REAL[name], Output()
    button = Button(
        description=f"Fetch {said} ({real.size / 1e6:.0f} MB, {real.licence})",
        tooltip=f"from {real.source}",
        layout=Layout(width="max-content"),
    )

    def pressed(_: Button) -> None:
        button.disabled = True
        shown.clear_output()
        with shown:
            try:
                fetch(name)
                print(problem(name) or f"{said} is here: go on with the next cell.")
            except WeightsError as error:
                print(error)
            except KeyboardInterrupt:
                print("Stopped. The next press goes on from there.")
        button.disabled = not problem(name)

    button.on_click(pressed)
    return VBox([button, shown])
