import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The requests and their results. Each entry is chained to the previous ones by a hash; the last page is in memory. */
class Journal {
    private static final int PAGE = 1 << 16;

    private final MessageDigest digest;
    private final ByteBuffer page = ByteBuffer.allocate(PAGE);
    private byte[] hash = new byte[0];
    private int entries;

    Journal() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    void append(String request, String answer) {
        byte[] entry = (++entries + " " + request + " -> " + answer + "\n").getBytes(StandardCharsets.UTF_8);
        if (page.remaining() < entry.length) {
            page.clear();
        }
        page.put(entry);
        digest.update(hash);
        hash = digest.digest(entry);
    }

    int entries() {
        return entries;
    }

    /** Returns the first digits of the hash of all entries. */
    String seal() {
        return HexFormat.of().formatHex(hash, 0, 8);
    }
}
