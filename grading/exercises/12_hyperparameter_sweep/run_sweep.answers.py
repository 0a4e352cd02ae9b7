# %% right: a copy of the table
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    for setting in settings:
        known = table.get(setting["name"])
        if known is None or any(known.get(key) != value for key, value in setting.items()):
            result = train_one(setting)
            table[setting["name"]] = {**setting, **result}
            save(table)
    return [table[setting["name"]] for setting in settings]


# %% right: adds to the table it was given
def run_sweep(settings, train_one, finished, save):
    rows = []
    for setting in settings:
        row = finished.get(setting["name"], {})
        if not all(row.get(key) == setting[key] for key in setting):
            row = setting | train_one(setting)
            finished[setting["name"]] = row
            save(finished)
        rows.append(row)
    return rows


# %% right: first the list of what is to do
# other: It lists first what is to do, so that the number of trainings is known before the first one; the solution decides and trains in one loop, with less to keep.
def run_sweep(settings, train_one, finished, save):
    known = {s["name"]: finished.get(s["name"], {}) for s in settings}
    todo = [s for s in settings if [known[s["name"]].get(key) for key in s] != list(s.values())]
    table = finished.copy()
    for setting in todo:
        row = dict(setting)
        row.update(train_one(setting))
        table[row["name"]] = row
        save(table.copy())
    return [table[s["name"]] for s in settings]


# %% right: saves more often than needed
def run_sweep(settings, train_one, finished, save):
    table = {name: dict(row) for name, row in finished.items()}
    save(table)
    try:
        for setting in settings:
            row = table.get(setting["name"], {})
            if {key: row.get(key) for key in setting} != setting:
                table[setting["name"]] = {**setting, **train_one(setting)}
                save(table)
    finally:
        save(table)
    return [table[setting["name"]] for setting in settings if setting["name"] in table]


# %% right: recursive
def run_sweep(settings, train_one, finished, save):
    if not settings:
        return []
    first, *others = settings
    row = finished.get(first["name"])
    if row is None or {**dict.fromkeys(first), **row, **first} != {**dict.fromkeys(first), **row}:
        row = {**first, **train_one(first)}
        finished = {**finished, first["name"]: row}
        save(finished)
    return [row, *run_sweep(others, train_one, finished, save)]


# %% right: rows one by one
def run_sweep(settings, train_one, finished, save):
    table, rows = dict(finished), []
    for setting in settings:
        name = setting["name"]
        old = table.get(name, {})
        if any(old.get(key) != value for key, value in setting.items()):
            result = train_one(setting)
            table[name] = {**setting, **result}
            save(table)
        rows.append(table[name])
    return rows


# %% right: in place, once the row is whole
def run_sweep(settings, train_one, finished, save):
    for setting in settings:
        if any(finished.get(setting["name"], {}).get(key) != value for key, value in setting.items()):
            row = dict(setting)
            row.update(train_one(setting))
            finished[row["name"]] = row
            save(finished)
    return [finished[setting["name"]] for setting in settings]


# %% wrong: trains everything -> finished settings are trained again
# hint: Before training, look whether the table already has a row that fits this setting; hours depend on it.
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    for setting in settings:
        table[setting["name"]] = {**setting, **train_one(setting)}
        save(table)
    return [table[setting["name"]] for setting in settings]


# %% wrong: save after the loop -> the table is saved only at the end
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            table[setting["name"]] = {**setting, **train_one(setting)}
    save(table)
    return [table[setting["name"]] for setting in settings]


# %% wrong: save forgotten -> the table is never saved
# of: save after the loop
# -    save(table)


# %% wrong: save in finally -> the table is saved only when the function ends
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    try:
        for setting in settings:
            if not setting.items() <= table.get(setting["name"], {}).items():
                table[setting["name"]] = {**setting, **train_one(setting)}
    finally:
        save(table)
    return [table[setting["name"]] for setting in settings]


# %% wrong: saves one row -> only the newest row is saved
# -            table[setting["name"]] = {**setting, **train_one(setting)}
# -    save(table)
# +            row = {**setting, **train_one(setting)}
# +            table[setting["name"]] = row
# +            save({setting["name"]: row})


# %% wrong: starts from an empty table -> the rows of the earlier run are lost
def run_sweep(settings, train_one, finished, save):
    table = {}
    for setting in settings:
        old = finished.get(setting["name"])
        if old is not None and all(old[key] == setting[key] for key in setting):
            continue
        table[setting["name"]] = {**setting, **train_one(setting)}
        save(table)
    return list(table.values())


# %% wrong: only today's settings are kept -> rows of other sweeps are lost
def run_sweep(settings, train_one, finished, save):
    table = {s["name"]: finished[s["name"]] for s in settings if s["name"] in finished}
    for s in settings:
        if not s.items() <= table.get(s["name"], {}).items():
            table[s["name"]] = {**s, **train_one(s)}
            save(table)
    return [table[s["name"]] for s in settings]


# %% wrong: collects what it trains -> only new rows are returned
def run_sweep(settings, train_one, finished, save):
    table, rows = dict(finished), []
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            row = {**setting, **train_one(setting)}
            table[setting["name"]] = row
            rows.append(row)
            save(table)
    return rows


# %% wrong: finished ones, then the others -> finished rows come first
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    rows = [finished[s["name"]] for s in settings if s["name"] in finished]
    for setting in settings:
        if not setting.items() <= table.get(setting["name"], {}).items():
            table[setting["name"]] = {**setting, **train_one(setting)}
            rows.append(table[setting["name"]])
            save(table)
    return rows


# %% wrong: the values of the table -> rows come in the order of the table
# hint: The table begins with the rows of the earlier run. The result follows the order of the settings.
def run_sweep(settings, train_one, finished, save):
    for setting in settings:
        row = finished.get(setting["name"], {})
        if any(row.get(key) != setting[key] for key in setting):
            finished[setting["name"]] = {**setting, **train_one(setting)}
            save(finished)
    return list(finished.values())


# %% wrong: results alone -> the setting is missing from its row
# hint: A row holds the setting and its result, {**setting, **result}: nobody can read a table of results alone.
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    for setting in settings:
        if setting["name"] not in table:
            table[setting["name"]] = train_one(setting)
            save(table)
    return [table[setting["name"]] for setting in settings]


# %% wrong: only the name is compared -> finished is judged by the name alone
# hint: A setting that was changed keeps its name, but its row is about another model. Compare all entries of the
# hint: setting with those of the row.
# of: trains everything
#      for setting in settings:
# +        if setting["name"] in table:
# +            continue


# %% wrong: pairs of the setting among those of the row -> an entry that is None must stand in the old row
# hint: A row may lack an entry that is None in its setting, and counts: it is not trained again. `row.get(entry)` is
# hint: None there, too; `setting.items() <= row.items()` asks for the entry itself.
def run_sweep(settings, train_one, finished, save):
    for setting in settings:
        if not setting.items() <= finished.get(setting["name"], {}).items():
            finished[setting["name"]] = {**setting, **train_one(setting)}
            save(finished)
    return [finished[setting["name"]] for setting in settings]


# %% wrong: saves before training -> a setting counts as finished before it is trained
# of: save after the loop
# -            table[setting["name"]] = {**setting, **train_one(setting)}
# +            table[setting["name"]] = dict(setting)
# +            save(table)
# +            table[setting["name"]].update(train_one(setting))


# %% wrong: the row grows in the finished ones -> a training that is stopped leaves its row in `finished`
# hint: The next run takes it for finished, and it has no result. Put the row into the table when train_one has
# hint: returned: in `table[name] = {**setting, **train_one(setting)}` the right side comes first.
def run_sweep(settings, train_one, finished, save):
    for setting in settings:
        name = setting["name"]
        old = finished.get(name, {})
        if any(old.get(key) != value for key, value in setting.items()):
            finished[name] = dict(setting)
            finished[name].update(train_one(setting))
            save(finished)
    return [finished[setting["name"]] for setting in settings]


# %% wrong: a bare except -> the interruption is swallowed
def run_sweep(settings, train_one, finished, save):
    table = dict(finished)
    for setting in settings:
        if setting.items() <= table.get(setting["name"], {}).items():
            continue
        try:
            result = train_one(setting)
        except:
            print("failed, going on")
            continue
        table[setting["name"]] = {**setting, **result}
        save(table)
    return [table[setting["name"]] for setting in settings if setting["name"] in table]


# %% wrong: the old row goes on in the new one -> what an old row has lives on in the new one
# hint: A new row holds the setting and what this training gives, and nothing of the row whose place it takes.
# of: adds to the table it was given
# -        row = finished.get(setting["name"], {})
# -        if not all(row.get(key) == setting[key] for key in setting):
# -            row = setting | train_one(setting)
# +        row = finished.get(setting["name"])
# +        if row is None or any(row.get(key) != value for key, value in setting.items()):
# +            row = {**(row or {}), **setting, **train_one(setting)}

# %% wrong: an entry that the row lacks counts as equal ->
# of: results alone
# -        if setting["name"] not in table:
# -            table[setting["name"]] = train_one(setting)
# +        row = table.get(setting["name"])
# +        if row is None or any(row[key] != setting[key] for key in row if key in setting):
# +            table[setting["name"]] = {**setting, **train_one(setting)}

# %% wrong: stops in silence ->
# of: rows one by one
# -            result = train_one(setting)
# +            try:
# +                result = train_one(setting)
# +            except KeyboardInterrupt:
# +                print("interrupted")
# +                return rows

# %% wrong: under a new name ->
#              result = train_one(setting)
# +            name = name + " (new)" if old else name

# %% wrong: only numbers are compared ->
# -        if any(old.get(key) != value for key, value in setting.items()):
# +        if (
# +            any(old.get(key) != value for key, value in setting.items() if not isinstance(value, str))
# +            or not old
# +        ):


# %% wrong: rows are kept from one call to the next ->
TRAINED: dict[str, dict] = {}


def run_sweep(settings: list[dict], train_one, finished: dict[str, dict], save) -> list[dict]:
    rows = []
    for setting in settings:
        name = setting["name"]
        row = finished.get(name, {})
        if any(row.get(key) != value for key, value in setting.items()):
            row = TRAINED.get(name, {})
            if any(row.get(key) != value for key, value in setting.items()):
                row = {**setting, **train_one(setting)}
                TRAINED[name] = row
            finished[name] = row
            save(finished)
        rows.append(row)
    return rows


# %% wrong: entries are compared as texts ->
# of: an entry that the row lacks counts as equal
# -        if row is None or any(row[key] != setting[key] for key in row if key in setting):
# +        if row is None or any(str(row.get(entry)) != str(value) for entry, value in setting.items()):

# %% wrong: the entries stand in the same order ->
# -        if row is None or any(row[key] != setting[key] for key in row if key in setting):
# +        wanted = [(entry, value) for entry, value in setting.items() if value is not None]
# +        if (
# +            row is None
# +            or [(entry, row[entry]) for entry in row if row[entry] is not None and entry in setting] != wanted
# +        ):

# %% wrong: the setting wins over its result ->
# of: entries are compared as texts
# ~ (setting["name"]) => (setting["name"], {})
# ~ row is None or any(str(row.get(entry)) != str(value) for entry => any(row.get(key) != value for key
# ~ setting, **train_one(setting) => train_one(setting), **setting

# %% wrong: 0 and None are one value ->
# of: a copy of the table
# ~ known.get(key) != value for => (known.get(key) or None) != (value or None) for

# %% wrong: an entry that is 0 may be missing, too ->
# of: a copy of the table
# ~ known.get(key) != value for => known.get(key, value if not value else None) != value for

# %% wrong: None and 0 are one value where the setting has None ->
# of: a copy of the table
# ~ known.get(key) != value for => known.get(key) != value and (value is not None or known.get(key)) for

# %% wrong: texts in any letters ->
# of: a copy of the table
# ~ known.get(key) != value for => str(known.get(key)).lower() != str(value).lower() for


# %% wrong: the old row goes before the training -> the old row is gone before there is a new one
# hint: A training may stop. Until its result is there, the old row stays: `table[name] = ...` puts the new one in its
# hint: place, and nothing need be deleted before.
def run_sweep(settings, train_one, finished, save):
    for setting in settings:
        row = finished.get(setting["name"])
        if row is not None and any(row.get(key) != value for key, value in setting.items()):
            del finished[setting["name"]]
        if setting["name"] not in finished:
            finished[setting["name"]] = {**setting, **train_one(setting)}
            save(finished)
    return [finished[setting["name"]] for setting in settings]


# %% wrong: old rows are cleared away first ->
# of: the old row goes before the training
# -    for setting in settings:
# -        row = finished.get(setting["name"])
# -        if row is not None and any(row.get(key) != value for key, value in setting.items()):
# -            del finished[setting["name"]]
# -        if setting["name"] not in finished:
# +    for setting in settings:
# +        if any(finished.get(setting["name"], {}).get(key) != value for key, value in setting.items()):
# +            finished.pop(setting["name"], None)
# +    for setting in settings:
# +        if setting["name"] not in finished:
