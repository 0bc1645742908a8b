"""OpenEnv's own client and validator against `mua env-serve`."""

import subprocess
import sys

from openenv import GenericEnvClient

from common import Server, conversations, row, turns, words


def played_as_recorded(env, conversation):
    """Whether the words of customer and tools, the reward and the ending are the recorded ones."""
    result = env.reset(task_id=conversation['task']['id'], seed=conversation['userSeed'])
    heard = [result.observation['content']]
    for node in turns(conversation):
        if result.done:
            break
        result = env.step({'content': words(node)})
        heard.append(result.observation['content'])
    said = [node['text'] for node in conversation['nodes'] if node['role'] in ('user', 'tool')]
    same = all(a == b for a, b in zip(heard, said))
    if conversation['termination'] == 'context_full':
        return same, 'token limit'  # The engine applies these limits.
    ended = (result.reward, result.observation.get('termination')) == (conversation['reward'], conversation['termination'])
    return same, 'as recorded' if result.done and ended else 'differs'


server = Server()
recorded = conversations()
results = []
with GenericEnvClient(base_url=server.url).sync() as env:
    for conversation in recorded:
        results.append(played_as_recorded(env, conversation))
same = sum(words_same for words_same, _ in results)
ends = [end for _, end in results]
limit = ends.count('token limit')
row(
    'OpenEnv',
    f'client, {len(recorded)} recorded conversations',
    f'words of {same} equal; reward and ending of {ends.count("as recorded")} equal, {limit} were ended by a token limit of the playground',
    same == len(recorded) and 'differs' not in ends,
)
run = subprocess.run([sys.executable.replace('python', 'openenv'), 'validate', '--url', server.url], capture_output=True, text=True)
text = run.stdout + run.stderr
passed, failed = text.count('PASS  '), text.count('FAIL  ')
row('OpenEnv', 'validate --url', f'{passed} of {passed + failed} criteria', run.returncode == 0 and passed > 0 and failed == 0)
server.kill()
