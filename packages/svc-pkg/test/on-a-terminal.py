"""Runs a program on a pseudo-terminal: types the answers when their questions appear, and prints what the terminal showed."""
import json, os, pty, select, sys

steps = json.loads(sys.argv[1])  # [[question, answer], ...]
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    ready, _, _ = select.select([terminal], [], [], 60)
    if not ready:
        sys.exit("the program shows nothing any more: " + shown.decode(errors="replace"))
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if steps and steps[0][0].encode() in shown:
        os.write(terminal, steps.pop(0)[1].encode())
_, status = os.waitpid(child, 0)
print(json.dumps({"exitCode": os.waitstatus_to_exitcode(status), "shown": shown.decode(errors="replace")}))
