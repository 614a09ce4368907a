import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.List;

/** Serves MongoDB's protocol on a port of this machine, from a file; "locked" lets nobody in. */
class MongodbServer {
    public static void main(String[] words) {
        boolean locked = words.length > 2 && words[2].equals("locked");
        var backend = new H2Backend(words[1]) {
            @Override
            public Document handleMessage(MongoMessage message) {
                String command = message.getDocument().keySet().iterator().next();
                if (locked && command.startsWith("sasl")) {
                    throw new MongoServerError(18, "AuthenticationFailed", "Authentication failed.");
                } else if (locked && !command.equalsIgnoreCase("isMaster")) {
                    String text = "command " + command + " requires authentication";
                    throw new MongoServerError(13, "Unauthorized", text);
                }
                try {
                    return super.handleMessage(message);
                } finally {
                    commit(); // what is acknowledged outlasts the process, as by a journal
                }
            }
        };
        backend.version(new MongoVersion() {
            @Override
            public List<Integer> getVersionArray() {
                return ServerVersion.MONGO_5_0.getVersionArray();
            }

            @Override
            public int getWireVersion() {
                return 9; // the least that the driver accepts; its own, 8, is that of 4.2
            }
        });
        new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(words[0]));
    }
}
