import com.sun.jdi.Bootstrap;
import com.sun.jdi.Field;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.ModificationWatchpointEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.MethodEntryRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Map;

/**
 * Watches a program as a debugger does: it stops at each event, reads the argument if asked to, makes a step of the
 * automaton, and lets the program go on.
 *
 * <p>{@code java Jdi bare|argument|watch|entry CLASSPATH Calls EVENTS TIMES}, where {@code bare} and {@code argument}
 * are breakpoints in {@code Calls.call}; or, for {@code watch}, {@code CLASSPATH Sweep empty EVENTS GAP TIMES}.
 */
class Jdi {
    private final String mode;
    private final VirtualMachine vm;

    public static void main(String[] args) throws Exception {
        String command = String.join(" ", Arrays.asList(args).subList(2, args.length));
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("main").setValue(command);
        arguments.get("options").setValue("-cp " + args[1]);
        VirtualMachine vm = connector.launch(arguments);
        Thread output = pass(vm.process().getInputStream(), System.out);
        Thread errors = pass(vm.process().getErrorStream(), System.err);
        new Jdi(args[0], vm).run();
        output.join();
        errors.join();
        System.out.println("stops " + Step.steps);
    }

    private Jdi(String mode, VirtualMachine vm) {
        this.mode = mode;
        this.vm = vm;
    }

    private static Thread pass(InputStream from, PrintStream to) {
        Thread thread = new Thread(() -> {
            try {
                from.transferTo(to);
            } catch (IOException e) {
                to.println(e);
            }
        });
        thread.start();
        return thread;
    }

    private void run() throws Exception {
        ClassPrepareRequest prepare = vm.eventRequestManager().createClassPrepareRequest();
        prepare.addClassFilter(mode.equals("watch") ? "Test" : "Calls");
        prepare.enable();
        try {
            while (true) {
                EventSet events = vm.eventQueue().remove();
                for (Event event : events) {
                    if (event instanceof VMDeathEvent || event instanceof VMDisconnectEvent) {
                        return;
                    }
                    handle(event);
                }
                events.resume();
            }
        } catch (VMDisconnectedException e) {
            // The program has ended.
        }
    }

    private void handle(Event event) throws Exception {
        if (event instanceof ClassPrepareEvent) {
            request(((ClassPrepareEvent) event).referenceType());
        } else if (event instanceof ModificationWatchpointEvent) {
            step(((ModificationWatchpointEvent) event).valueToBe());
        } else if (event instanceof BreakpointEvent || event instanceof MethodEntryEvent) {
            if (event instanceof MethodEntryEvent && !((MethodEntryEvent) event).method().name().equals("call")) {
                return;
            }
            if (mode.equals("bare")) {
                Step.step(0);
            } else {
                step(((LocatableEvent) event).thread().frame(0).getArgumentValues().get(0));
            }
        }
    }

    private static void step(Value value) {
        Step.step(((IntegerValue) value).value());
    }

    /** Asks for the events, each of which stops the thread in which it happens and no other. */
    private void request(ReferenceType type) {
        EventRequestManager manager = vm.eventRequestManager();
        EventRequest request;
        switch (mode) {
            case "watch":
                Field field = type.fieldByName("monitoredX");
                request = manager.createModificationWatchpointRequest(field);
                break;
            case "entry":
                MethodEntryRequest entry = manager.createMethodEntryRequest();
                entry.addClassFilter(type);
                request = entry;
                break;
            default:
                Method method = type.methodsByName("call").get(0);
                request = manager.createBreakpointRequest(method.location());
        }
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
    }
}
