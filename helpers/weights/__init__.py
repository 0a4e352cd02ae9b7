"""Published weights in the course's own models: BERT, GPT-2, Llama and their relatives.

    model = load("tiny_llama")       # random weights in the published layout, part of the course
    model = load("smollm2")          # a real model, after `python -m helpers.weights fetch smollm2`
    model = load("path/to/folder")   # any other: config.json with model.safetensors (or its shards), or a .gguf file

`python -m helpers.weights list` says which real models can be fetched, how large they are, and whose licence they have.
The parts: `loading` fills a model, `kinds` says which of ours a file describes, `names` which published tensor becomes
which of ours, `fetching` brings real models, and `files`, which notebook 16 uses by itself, reads what is in a file.
"""

from helpers.weights.fetching import main as main
from helpers.weights.fetching import problem as problem
from helpers.weights.kinds import Model as Model
from helpers.weights.loading import TINY as TINY
from helpers.weights.loading import copy_into as copy_into
from helpers.weights.loading import find as find
from helpers.weights.loading import is_here as is_here
from helpers.weights.loading import load as load
