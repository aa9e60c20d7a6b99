package millrace;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.opensearch.Version;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/**
 * One OpenSearch node in this process, with the modules that a stock one has and Millrace uses.
 *
 * <p>Arguments: DATA-FOLDER HTTP-PORT TRANSPORT-PORT [setting=value ...]
 */
public final class SearchNode {
    private static final List<String> MODULES = List.of(
        "org.opensearch.transport.Netty4", "org.opensearch.analysis.common.CommonAnalysis",
        "millrace.LazyPainless", "org.opensearch.join.ParentJoin",
        "org.opensearch.index.reindex.Reindex", "org.opensearch.index.mapper.MapperExtras",
        "org.opensearch.ingest.common.IngestCommon");

    /** Later versions have other names for the same. */
    static Class<?> find(String module) {
        for (String end : List.of("ModulePlugin", "Plugin", "Module")) {
            try {
                return Class.forName(module + end);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new IllegalStateException("this OpenSearch has no module " + module);
    }

    /** Version 2 takes classes, version 3 descriptions of them: a list of what this one takes. */
    @SuppressWarnings("rawtypes")
    private static Collection modules() {
        Collection<Object> modules = new ArrayList<>();
        List<String> names = new ArrayList<>(MODULES);
        if (Boolean.getBoolean("millrace.ik")) {
            names.add("millrace.Ik");
        }
        for (String name : names) {
            Class<?> plugin = find(name);
            modules.add(Version.CURRENT.major < 3 ? plugin : new PluginInfo(
                plugin.getName(), "", "", Version.CURRENT, "", plugin.getName(), null,
                List.of(), false));
        }
        return modules;
    }

    private static final class EmbeddedNode extends Node {
        @SuppressWarnings("unchecked")
        EmbeddedNode(Settings settings, Path home) {
            super(InternalSettingsPreparer.prepareEnvironment(
                settings, Map.of(), home.resolve("config"), () -> "millrace"), modules(), true);
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
