/**
 * @file Servers with an OpenAI-compatible interface: their usual URLs, whether they need a key, and how they can allow the
 * page to read answers (CORS).
 */

export interface Provider {
  id: string;
  label: string;
  /** The usual base URL. '' for a server that is not in this list. */
  baseUrl: string;
  key: 'none' | 'optional' | 'required';
  /** How to start the server. '' for a service on the internet. */
  start: string;
  /** How to allow a page of `origin` to read the server's answers. */
  cors: (origin: string) => string;
}

const BLOCKED = 'An extension of the browser or a firewall may block the request.';

const OTHER: Provider = {
  id: 'other',
  label: 'Another server',
  baseUrl: '',
  key: 'optional',
  start: 'Start the server, or correct the address.',
  cors: (origin) => `Allow the origin ${origin} in the settings of the server.`,
};

export const PROVIDERS: readonly Provider[] = [
  {
    id: 'ollama',
    label: 'Ollama',
    baseUrl: 'http://localhost:11434/v1',
    key: 'none',
    start: 'Start Ollama with “ollama serve”.',
    cors: (origin) => `Start Ollama with the environment variable OLLAMA_ORIGINS=${origin}.`,
  },
  {
    id: 'lm-studio',
    label: 'LM Studio',
    baseUrl: 'http://localhost:1234/v1',
    key: 'none',
    start: 'Start the server of LM Studio with “lms server start --cors”.',
    cors: () => 'Turn on “Enable CORS” in the server settings of LM Studio, or start the server with “lms server start --cors”.',
  },
  {
    id: 'llama-cpp',
    label: 'llama.cpp',
    baseUrl: 'http://localhost:8080/v1',
    key: 'optional',
    start: 'Start “llama-server” with a model.',
    cors: (origin) => `llama-server allows every page by default: if it was started with --cors-origins, set it to ${origin}.`,
  },
  {
    id: 'vllm',
    label: 'vLLM',
    baseUrl: 'http://localhost:8000/v1',
    key: 'optional',
    start: 'Start the server with “vllm serve” and a model.',
    cors: (origin) => `vLLM allows every page by default: if it was started with --allowed-origins, add ${origin} there.`,
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'required',
    start: '',
    cors: () => BLOCKED,
  },
  {
    id: 'openai',
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    key: 'required',
    start: '',
    cors: () => BLOCKED,
  },
  OTHER,
];

/** The provider with the host and port of a URL. “Another server” for other URLs, and for text that is not a URL. */
export function providerOf(baseUrl: string): Provider {
  const place = (text: string) => (URL.canParse(text) ? new URL(text).host.replace(/^(127\.0\.0\.1|\[::1\])(?=:|$)/, 'localhost') : null);
  const host = place(baseUrl.trim());
  return PROVIDERS.find((provider) => host !== null && place(provider.baseUrl) === host) ?? OTHER;
}
