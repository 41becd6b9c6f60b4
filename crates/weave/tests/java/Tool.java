import java.io.*;
import java.lang.reflect.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;

/**
 * What the tests need of a virtual machine.
 *
 * An archive is a sequence of classes: the length of the name, the name, the length of the content, the content.
 */
public class Tool {
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "dump-jrt" -> dumpJrt(arguments[1], arguments[2]);
            case "dump-jar" -> dumpJar(arguments[1], arguments[2]);
            case "link" -> link(arguments[1]);
            case "link-boot" -> linkBoot(arguments[1]);
            case "run" -> run(arguments[1], arguments[2]);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    static void write(DataOutputStream out, String name, byte[] bytes) throws IOException {
        out.writeUTF(name);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** Writes every class of a module of the running machine into an archive. */
    static void dumpJrt(String module, String archive) throws IOException {
        Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", module);
        try (Stream<Path> paths = Files.walk(root);
             DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(archive)))) {
            for (Path path : (Iterable<Path>) paths.sorted()::iterator) {
                String name = root.relativize(path).toString();
                if (name.endsWith(".class") && !name.equals("module-info.class")) {
                    write(out, name.substring(0, name.length() - 6), Files.readAllBytes(path));
                }
            }
        }
    }

    /** Writes every class of a jar into an archive. */
    static void dumpJar(String jar, String archive) throws IOException {
        try (ZipFile zip = new ZipFile(jar);
             DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(archive)))) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.endsWith("module-info.class") && !name.startsWith("META-INF/")) {
                    write(out, name.substring(0, name.length() - 6), zip.getInputStream(entry).readAllBytes());
                }
            }
        }
    }

    /**
     * Links every class of an archive, and prints one line for each that does not link. Names are the name of a group, a colon and
     * the name of the class: each group has a loader of its own.
     */
    static void link(String archive) throws IOException {
        Map<String, Map<String, byte[]>> groups = new LinkedHashMap<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(archive)))) {
            while (in.available() > 0) {
                String[] name = in.readUTF().replace('/', '.').split(":");
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                groups.computeIfAbsent(name[0], group -> new LinkedHashMap<>()).put(name[1], bytes);
            }
        }
        groups.forEach((group, classes) -> {
            ClassLoader loader = new ClassLoader(Tool.class.getClassLoader()) {
                @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
                    byte[] bytes = classes.get(name);
                    if (bytes == null) throw new ClassNotFoundException(name);
                    return defineClass(name, bytes, 0, bytes.length);
                }
            };
            for (String name : classes.keySet()) link(group + ":", name, loader);
        });
        System.out.println("linked");
    }

    /** Links every class of a list of names, with the loader of the platform's own classes. */
    static void linkBoot(String list) throws IOException {
        for (String name : Files.readAllLines(Path.of(list))) link("", name.replace('/', '.'), null);
        System.out.println("linked");
        try {
            Object count = Class.forName("java.lang.Invigil").getField("count").get(null);
            System.out.println("count " + count);
        } catch (ReflectiveOperationException missing) {
            System.out.println("count none");
        }
    }

    static void link(String group, String name, ClassLoader loader) {
        try {
            // Asking for the methods of a class links it, and does not initialise it.
            Class.forName(name, false, loader).getDeclaredMethods();
        } catch (Throwable problem) {
            String words = String.valueOf(problem.getMessage()).replace('\n', ' ');
            System.out.println("fails " + group + name + " " + problem.getClass().getName() + " " + words);
        }
    }

    /** Runs a program, and writes what the helper heard into a file. */
    static void run(String main, String log) throws Exception {
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException thrown) {
            System.out.println("threw " + thrown.getCause());
        }
        try {
            Object heard = Class.forName("java.lang.Invigil").getField("log").get(null);
            Files.write(Path.of(log), heard.toString().getBytes(StandardCharsets.UTF_8));
        } catch (ClassNotFoundException unwoven) {
            Files.write(Path.of(log), new byte[0]);
        }
    }
}
