"""Runs a program at a terminal of its own: argv[1] is a JSON list of pairs [what is waited for, what is typed then]; \\udcXX types the byte XX."""
import json, os, pty, select, signal, sys, time

steps, program = json.loads(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(program[0], program)
shown, end = b"", time.time() + 50
while time.time() < end:
    while steps and steps[0][0].encode() in shown:
        os.write(terminal, steps.pop(0)[1].encode(errors="surrogateescape"))
        # Only what is said from now on can be the next question.
        shown = b""
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        sys.stdout.buffer.write(piece)
        sys.stdout.flush()
else:
    os.kill(child, signal.SIGKILL)
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 99)
