/** @file The Python module `mua_server.py`: an episode of `mua env-serve` for engines that call it without `await`. */
import { python } from './adapter-input.ts';

/** The seconds between two tries to reach the server. */
const WAITS = [1, 5, 15, 60, 120];
/** How long an engine waits for the server, for its README. */
export const LONGEST_WAIT = `${WAITS.reduce((sum, wait) => sum + wait)} seconds`;

/** The lines of Python for the server's address and the waits. They need `os` and `re`. */
export const serverLines = (url: string): string => `URL = os.environ.get("MUA_ENV_URL", ${python(url)})
# The address without the token, for messages.
SERVER = re.sub(r"//[^@/]*@", "//", URL)
# The seconds between two tries.
WAITS = (${WAITS.join(', ')})`;

/** @param url the address of the server, unless MUA_ENV_URL names another one */
export const serverEpisode = (url: string): string => `"""Episodes of mua env-serve over OpenEnv's client."""

import os
import re
import time

from openenv import GenericEnvClient

${serverLines(url)}


class Episode:
    """One conversation at a time. \`reward\` is None if the server or the customer failed, and 0.0 until the conversation ends."""

    def __init__(self):
        self.client, self.reward, self.done, self.error = None, None, True, None

    def reset(self, task_id, seed):
        """Begins a conversation over a new connection. Returns the first observation. Waits for a server that does not answer."""
        for wait in (*WAITS, None):
            self.close()
            self.reward, self.done, self.error = None, True, None
            try:
                self.client = GenericEnvClient(base_url=URL).sync()
                first = self.client.reset(task_id=task_id, seed=seed).observation
                self.reward, self.done = 0.0, False
                return first
            except Exception as error:
                if wait is None or "VALIDATION_ERROR" in str(error):
                    raise ConnectionError(f"{SERVER} does not begin the episode {task_id}: {error}") from error
                print(f"{SERVER} does not begin an episode ({error}): the next try is in {wait} s", flush=True)
                time.sleep(wait)

    def step(self, action):
        """Plays an act. Returns the observation, or None if the conversation has ended without a score."""
        try:
            result = self.client.step(action)
        except Exception as error:
            # The agent wrote an act that the server refuses. The conversation goes on.
            if "VALIDATION_ERROR" in str(error):
                return {"role": "tool", "content": f"Error: {error}"}
            self.reward, self.done, self.error = None, True, f"{SERVER}: {error}"
            return None
        if result.done:
            self.reward, self.done = result.reward, True
        return result.observation

    def close(self):
        client, self.client = self.client, None
        try:
            if client:
                client.close()
        except Exception:
            pass  # the connection is already lost
`;
