"""Makes the virtual environments of tests/engines/environments.json. Usage: python3 install.py FOLDER readers|all

An environment that has its packages is kept. An environment `beside` another one takes what it lacks from that one: several packages
want their own transformers, and torch is too large to install three times.
"""

import json
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).parent


def site(environment):
    return next((environment / 'lib').glob('python3*')) / 'site-packages'


def install(folder, name, packages, beside=None, **_):
    environment = folder / name
    done = environment / 'packages.json'
    wanted = json.dumps(packages)
    if done.exists() and done.read_text() == wanted:
        return
    start = time.monotonic()
    print(f'{name}: installs {len(packages)} packages', flush=True)
    venv.create(environment, with_pip=True, clear=True)
    more = []
    if beside:
        (site(environment) / 'beside.pth').write_text(str(site(folder / beside)))
        more = ['--no-deps']
    pip = [str(environment / 'bin' / 'python'), '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', *more]
    subprocess.run([*pip, *packages], check=True)
    done.write_text(wanted)
    print(f'{name}: ready after {time.monotonic() - start:.0f} s', flush=True)


if __name__ == '__main__':
    folder, stage = Path(sys.argv[1]).absolute(), sys.argv[2]
    for name, environment in json.loads((HERE / 'environments.json').read_text()).items():
        if stage == 'all' or environment['stage'] == stage:
            install(folder, name, **environment)
