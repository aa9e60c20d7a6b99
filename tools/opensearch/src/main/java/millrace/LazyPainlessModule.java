package millrace;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.ScriptPlugin;
import org.opensearch.script.ScriptContext;
import org.opensearch.script.ScriptEngine;

/**
 * The language of scripts, made for each of their contexts when the first script of it comes.
 *
 * <p>The stock module makes it for all contexts, some thirty, when a node starts, which is a third
 * of what a start costs. This one lacks only the request that tries a script.
 */
public final class LazyPainlessModule extends Plugin implements ScriptPlugin {
    private final Plugin stock = make();

    /** One for each engine: a plugin makes only one. */
    private static Plugin make() {
        try {
            return (Plugin) SearchNode.find("org.opensearch.painless.Painless")
                .getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public List<Setting<?>> getSettings() {
        return stock.getSettings();
    }

    @Override
    public List<ScriptContext<?>> getContexts() {
        return ((ScriptPlugin) stock).getContexts();
    }

    @Override
    public ScriptEngine getScriptEngine(Settings settings, Collection<ScriptContext<?>> contexts) {
        return new Engine(settings, Set.copyOf(contexts));
    }

    private static final class Engine implements ScriptEngine {
        private final Settings settings;
        private final Set<ScriptContext<?>> contexts;
        private final Map<ScriptContext<?>, ScriptEngine> engines = new ConcurrentHashMap<>();

        Engine(Settings settings, Set<ScriptContext<?>> contexts) {
            this.settings = settings;
            this.contexts = contexts;
        }

        @Override
        public String getType() {
            return "painless";
        }

        @Override
        public <T> T compile(String name, String code, ScriptContext<T> context,
                             Map<String, String> params) {
            return engines.computeIfAbsent(context, this::engine)
                .compile(name, code, context, params);
        }

        private ScriptEngine engine(ScriptContext<?> context) {
            return ((ScriptPlugin) make()).getScriptEngine(settings, List.of(context));
        }

        @Override
        public Set<ScriptContext<?>> getSupportedContexts() {
            return contexts;
        }

        @Override
        public void close() throws IOException {
            for (ScriptEngine engine : engines.values()) {
                engine.close();
            }
        }
    }
}
