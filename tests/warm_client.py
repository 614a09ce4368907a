"""Stands for a process that the warm server forks: passes on its signals, and its end.

`tests.warm` writes it into an executable file, with the place of the server in `ADDRESS`.
"""

import marshal
import os
import resource
import signal
import socket
import sys

ADDRESS = ""
LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS)


def main() -> None:
    child, early = 0, []

    def pass_on(number: int, frame: object) -> None:
        if child:
            os.kill(child, number)
        else:
            early.append(number)

    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"):
        signal.signal(getattr(signal, name), pass_on)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(ADDRESS)
        limits = [(kind, resource.getrlimit(kind)) for kind in LIMITS]
        wanted = marshal.dumps((sys.argv[1:], dict(os.environ), limits))
        here = os.open(".", os.O_RDONLY)
        socket.send_fds(server, [len(wanted).to_bytes(8)], [0, 1, 2, here])
        server.sendall(wanted)
        child = int.from_bytes(server.recv(8, socket.MSG_WAITALL))
        for number in early:
            os.kill(child, number)
        status = int.from_bytes(server.recv(8, socket.MSG_WAITALL))
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
