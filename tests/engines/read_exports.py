"""Opens the files of `mua export-run` with the tools they are for."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import struct
import tempfile

from common import WORK, beyond_rounding, conversations, row

EXPORTS = WORK / 'exports'
lines = lambda name: [json.loads(line) for line in (EXPORTS / name).read_text().splitlines()]
rollouts = lines('rollouts.jsonl')


def inspect():
    from inspect_ai.analysis import evals_df, messages_df, samples_df
    from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

    listed = list_eval_logs(str(EXPORTS / 'inspect'))
    log = read_eval_log(listed[0])
    again = str(EXPORTS / 'again.eval')
    write_eval_log(log, again)
    back = read_eval_log(again)
    mean = sum(next(iter(sample.scores.values())).value for sample in log.samples) / len(log.samples)
    wanted = sum(rollout['reward'] for rollout in rollouts) / len(rollouts)
    row('Inspect', 'list_eval_logs, read_eval_log, .eval and back', f'{len(listed)} log listed, {len(back.samples)} samples, mean {mean:.2f}',
        len(listed) == 1 and len(back.samples) == len(rollouts) and abs(mean - wanted) < 1e-9)
    logs = [listed[0].name]
    shapes = [len(evals_df(logs)), len(samples_df(logs)), len(messages_df(logs))]
    row('Inspect', 'evals_df, samples_df, messages_df', f'{shapes[0]} evaluation, {shapes[1]} samples, {shapes[2]:,} messages',
        shapes[0] == 1 and shapes[1] == len(rollouts) and shapes[2] > 10 * len(rollouts))


def tensorboard():
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(EXPORTS / 'events.out.tfevents.1.run'))
    events.Reload()
    tags = events.Tags()['scalars']
    table = list(csv.DictReader(open(EXPORTS / 'metrics.csv')))
    single = lambda text: struct.unpack('f', struct.pack('f', float(text)))[0]
    wrong = compared = 0
    for tag in tags:
        found = {event.step: event.value for event in events.Scalars(tag)}
        for line in table:
            if line[tag] != '':
                compared += 1
                wrong += found.get(int(line['step'])) != single(line[tag])
    row('TensorBoard', 'EventAccumulator against the CSV', f'{len(tags)} tags, {compared:,} values, {wrong} differ', wrong == 0 and compared > 1000)


def trackio():
    os.environ['TRACKIO_DIR'] = tempfile.mkdtemp()
    import trackio as package

    folder = tempfile.mkdtemp()
    shutil.copy(EXPORTS / 'events.out.tfevents.1.run', folder)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        package.import_tf_events(folder, project='mua', name='run')
    count = int(re.search(r'Total imported events: (\d+)', text.getvalue()).group(1))
    row('Trackio', 'import_tf_events', f'{count:,} values; import_csv cuts the names to 10 letters, by design', count > 1000)


def parquet():
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(EXPORTS / 'rollouts.parquet').to_pylist()
    near = lambda a, b: a == b or (isinstance(a, float) and isinstance(b, (int, float)) and abs(a - b) < 1e-6)
    wrong = 0
    for theirs, ours in zip(table, rollouts):
        for key, value in theirs.items():
            own = ours.get(key)
            if isinstance(own, (list, dict)) and isinstance(value, str):
                value = json.loads(value)
            same = all(near(a, b) for a, b in zip(value, own)) if isinstance(value, list) and value and isinstance(value[0], (float, type(None))) else near(value, own)
            wrong += not same
    row('pyarrow', 'Parquet against the JSONL', f'{len(table)} rows, {wrong} values differ', wrong == 0 and len(table) == len(rollouts))


def datasets():
    from datasets import load_dataset

    counts = []
    with tempfile.TemporaryDirectory() as cache:
        for kind, name in (('parquet', 'rollouts.parquet'), ('json', 'rollouts.jsonl'), ('json', 'verl.jsonl'), ('json', 'chat.jsonl')):
            counts.append(load_dataset(kind, data_files=str(EXPORTS / name), split='train', cache_dir=cache).num_rows)
    row('datasets', 'load_dataset on Parquet and three JSONL', f'{counts} rows', counts == [len(rollouts)] * 4)


def converted():
    import pandas
    import pyarrow.parquet
    from datasets import load_dataset

    rows = lines('converted.mua-rl')
    kinds = ['chat', 'trl', 'sharegpt', 'preference', 'mua-rl']
    with tempfile.TemporaryDirectory() as cache:
        counts = [load_dataset('json', data_files=str(EXPORTS / f'converted.{kind}'), split='train', cache_dir=cache).num_rows for kind in kinds]
        theirs = load_dataset('parquet', data_files=str(EXPORTS / 'converted.parquet'), split='train', cache_dir=cache).to_list()
    row('datasets', f'load_dataset on the formats of mua convert: {", ".join(kinds)}', f'{counts} rows', counts == [len(lines(f'converted.{kind}')) for kind in kinds])
    frame = pandas.read_parquet(EXPORTS / 'converted.parquet')
    table = pyarrow.parquet.read_table(EXPORTS / 'converted.parquet')
    texts = all(str(field.type) == 'string' for field in table.schema)
    wrong = sum(own != other for own, other in zip(rows, table.to_pylist())) + sum(own != other for own, other in zip(rows, theirs))
    first = json.loads(frame['messages'][0])
    row('pyarrow', 'Parquet of mua convert, as MUA-RL’s dataset, also with pandas and datasets', f'{len(frame)} rows, {wrong} differ from the JSONL',
        texts and wrong == 0 and len(frame) == len(rows) == len(theirs) and first[0]['role'] == 'system' and list(frame.columns) == ['id', 'source', 'messages', 'tools'])


def onnx():
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(str(WORK / 'onnx' / 'onnx' / 'model.onnx'), providers=['CPUExecutionProvider'])
    config = json.loads((WORK / 'onnx' / 'config.json').read_text())
    heads, size = config['num_key_value_heads'], config['head_dim']
    worst = count = 0
    # The log-probs of the evaluation before training, which the browser's engine recorded with the same weights.
    for trial in conversations('trials'):
        if trial['evaluation'] != 'recorded-before':
            continue
        nodes = trial['nodes']
        ids = [token for node in nodes for token in node['tokens']]
        wanted = [value for node in nodes for value in node['logprobs']]
        feed = {'input_ids': [ids], 'attention_mask': [[1] * len(ids)], 'position_ids': [list(range(len(ids)))]}
        given = {}
        for entry in session.get_inputs():
            past = entry.name.startswith('past')
            given[entry.name] = numpy.zeros((1, heads, 0, size), numpy.float32) if past else numpy.array(feed[entry.name], numpy.int64)
        logits = session.run(['logits'], given)[0][0].astype(numpy.float64)
        norm = logits.max(-1) + numpy.log(numpy.exp(logits - logits.max(-1, keepdims=True)).sum(-1))
        for i, value in enumerate(wanted):
            if value is not None:
                count += 1
                worst = max(worst, beyond_rounding(logits[i - 1, ids[i]] - norm[i - 1], value))
    row('ONNX Runtime', f'log-probs of {count:,} tokens that the browser sampled', f'at most {worst:.1e} off', count > 1000 and worst < 5e-4)


for check in (inspect, tensorboard, trackio, parquet, datasets, converted, onnx):
    try:
        check()
    except Exception as error:
        row(check.__name__, '', f'{type(error).__name__}: {str(error)[:200]}', False)
