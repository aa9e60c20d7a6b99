package millrace;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.join.ParentJoinPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node in this process, with the modules that a stock one has and Millrace uses.
 *
 * <p>Arguments: DATA-FOLDER HTTP-PORT TRANSPORT-PORT [setting=value ...]
 */
public final class SearchNode {
    private static final List<Class<? extends Plugin>> MODULES = List.of(
        Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class,
        ParentJoinPlugin.class, ReindexPlugin.class, MapperExtrasPlugin.class);

    private static final class EmbeddedNode extends Node {
        EmbeddedNode(Settings settings, Path home) {
            super(InternalSettingsPreparer.prepareEnvironment(
                settings, Map.of(), home.resolve("config"), () -> "millrace"), MODULES, true);
        }

        /** The inherited one sets a static of the whole process and the launcher's logging. */
        @Override
        protected void configureNodeAndClusterIdStateListener(ClusterService clusterService) {
        }
    }

    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]).toAbsolutePath();
        for (String folder : List.of("config", "logs", "plugins", "modules", "data")) {
            Files.createDirectories(home.resolve(folder));
        }
        Settings.Builder settings = Settings.builder()
            .put("path.home", home)
            .put("path.data", home.resolve("data"))
            .put("path.logs", home.resolve("logs"))
            .put("cluster.name", "millrace-local")
            .put("node.name", "millrace")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[1])
            .put("transport.port", args[2])
            .put("discovery.type", "single-node")
            // A laptop's disk is often nearly full; a test machine must not turn read-only for it.
            .put("cluster.routing.allocation.disk.threshold_enabled", false);
        for (int i = 3; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Node node = new EmbeddedNode(settings.build(), home);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        new CountDownLatch(1).await();
    }

    private static void close(Node node) {
        try {
            node.close();
            node.awaitClose(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
