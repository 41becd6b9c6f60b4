# A hook in C at every call of `push`: frida.py CODE PROGRAM ARGUMENTS…
import sys
import threading

import frida

SCRIPT = """
const slots = 262144;
const hook = new CModule(CODE, { table: Memory.alloc(16 * slots), bad: Memory.alloc(8) });
const symbols = Process.mainModule.enumerateSymbols();
// Only a function, no object with `onEnter` and `onLeave`: the cheaper way.
Interceptor.attach(symbols.find(symbol => symbol.name === 'push').address, hook.hit);
// The program closes its file when its clock has stopped.
Interceptor.attach(Module.getGlobalExportByName('fclose'), {
    onEnter() { send(new NativeFunction(hook.total, 'long', [])().toString()); }
});
"""


def main():
    code, program, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    device = frida.get_local_device()
    process = device.spawn([program] + arguments)
    session = device.attach(process)
    ended = threading.Event()
    session.on("detached", lambda *reason: ended.set())
    script = session.create_script(SCRIPT.replace("CODE", repr(code)))

    def told(message, _):
        print("counted " + message["payload"] if message["type"] == "send" else message, flush=True)

    script.on("message", told)
    script.load()
    device.resume(process)
    ended.wait()


main()
