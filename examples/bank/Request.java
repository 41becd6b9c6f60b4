import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;

/** A line such as {@code transfer session=7 from=100 to=210 amount=12.50 sum=1a2b3c4d}, parsed. */
class Request {
    final String verb;

    private final Map<String, String> fields = new HashMap<>();

    private Request(String verb) {
        this.verb = verb;
    }

    /** Parses a line; the checksum at its end must be correct. */
    static Request parse(String line) {
        int sum = line.lastIndexOf(" sum=");
        if (sum < 0 || !line.substring(sum + 5).equals(sum(line.substring(0, sum)))) {
            throw new IllegalArgumentException("the sum is wrong");
        }
        String[] words = line.substring(0, sum).split(" ");
        Request request = new Request(words[0]);
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("not a field: " + words[i]);
            }
            request.fields.put(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        return request;
    }

    /** Returns the line with its checksum. */
    static String sign(String line) {
        return line + " sum=" + sum(line);
    }

    private static String sum(String line) {
        CRC32 crc = new CRC32();
        crc.update(line.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }

    long number(String field) {
        return Long.parseLong(text(field));
    }

    /** An amount of money such as 12.50, in cents. */
    long amount(String field) {
        String text = text(field);
        int point = text.indexOf('.');
        if (point < 1 || point != text.length() - 3) {
            throw new IllegalArgumentException("not an amount: " + text);
        }
        long cents = Long.parseLong(text.substring(0, point)) * 100 + Long.parseLong(text.substring(point + 1));
        if (cents <= 0) {
            throw new IllegalArgumentException("not an amount: " + text);
        }
        return cents;
    }

    private String text(String field) {
        String text = fields.get(field);
        if (text == null) {
            throw new IllegalArgumentException(verb + " without " + field);
        }
        return text;
    }
}
