import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer.CompatibilityMode;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.Serializable;
import java.util.Map;

/** Decodes every row of a binlog file in the connector's cheapest mode; prints Millrace's count line. */
public class Decode {
    private long inserts, updates, deletes, cells, nulls, ids;

    private void count(Serializable[] row) {
        cells += row.length;
        for (Serializable cell : row) {
            if (cell == null) {
                nulls++;
            }
        }
        if (row[0] instanceof Number) {
            ids += ((Number) row[0]).longValue();
        }
    }

    private void take(EventData data) {
        if (data instanceof WriteRowsEventData) {
            for (Serializable[] row : ((WriteRowsEventData) data).getRows()) {
                inserts++;
                count(row);
            }
        } else if (data instanceof DeleteRowsEventData) {
            for (Serializable[] row : ((DeleteRowsEventData) data).getRows()) {
                deletes++;
                count(row);
            }
        } else if (data instanceof UpdateRowsEventData) {
            for (Map.Entry<Serializable[], Serializable[]> row : ((UpdateRowsEventData) data).getRows()) {
                updates++;
                count(row.getKey());
                count(row.getValue());
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Decode decode = new Decode();
        EventDeserializer deserializer = new EventDeserializer();
        deserializer.setCompatibilityMode(CompatibilityMode.DATE_AND_TIME_AS_LONG,
            CompatibilityMode.CHAR_AND_BINARY_AS_BYTE_ARRAY);
        try (InputStream file = new BufferedInputStream(new FileInputStream(args[0]), 1 << 20);
             BinaryLogFileReader reader = new BinaryLogFileReader(file, deserializer)) {
            for (Event e = reader.readEvent(); e != null; e = reader.readEvent()) {
                decode.take(e.getData());
            }
        }
        System.out.printf("ins=%d upd=%d del=%d cells=%d nulls=%d idsum=%d%n", decode.inserts, decode.updates,
            decode.deletes, decode.cells, decode.nulls, decode.ids);
    }
}
