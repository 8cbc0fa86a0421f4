"""A real OpenAI-compatible server for tests: llama.cpp with SmolLM2-135M, on a free loopback port.

    python serve.py MODEL.gguf

Prints the server's address as its first line and serves until standard input is closed.
"""

import sys

import xllamacpp


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.n_ctx = 8192
    parameters.n_parallel = 2
    parameters.endpoint_metrics = True
    # Two threads that wait for each other on a busy machine are slower than one.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
