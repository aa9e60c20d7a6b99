package millrace;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.Tokenizer;
import org.opensearch.common.settings.Settings;
import org.opensearch.index.IndexSettings;
import org.opensearch.index.analysis.AbstractIndexAnalyzerProvider;
import org.opensearch.index.analysis.AbstractTokenizerFactory;
import org.opensearch.index.analysis.AnalyzerProvider;
import org.opensearch.index.analysis.TokenizerFactory;
import org.opensearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.opensearch.plugins.AnalysisPlugin;
import org.opensearch.plugins.Plugin;
import org.wltea.analyzer.cfg.DefaultConfig;
import org.wltea.analyzer.dic.Dictionary;
import org.wltea.analyzer.lucene.IKAnalyzer;
import org.wltea.analyzer.lucene.IKTokenizer;

/**
 * The analyzers ik_smart and ik_max_word over the IK dictionary, with lists from a URL.
 *
 * <p>It asks for a list as the IK plugin does: HEAD with the marks that it has, and GET when
 * ETag or Last-Modified has changed. System properties: millrace.ik.ext and millrace.ik.stop
 * are the URLs, millrace.ik.seconds is how often it asks.
 */
public final class IkModule extends Plugin implements AnalysisPlugin {
    private static final int SECONDS = 60;
    private static final ScheduledExecutorService TIMER =
        Executors.newSingleThreadScheduledExecutor(IkModule::daemon);

    public IkModule() throws ReflectiveOperationException {
        Dictionary dictionary = Dictionary.initial(DefaultConfig.getInstance());
        StopWords stop = new StopWords(dictionary);
        follow("millrace.ik.ext", dictionary::addWords, dictionary::disableWords);
        follow("millrace.ik.stop", stop::add, stop::remove);
    }

    private static Thread daemon(Runnable run) {
        Thread thread = new Thread(run, "ik-words");
        thread.setDaemon(true);
        return thread;
    }

    private static void follow(
        String property, Consumer<Collection<String>> add, Consumer<Collection<String>> remove) {
        String url = System.getProperty(property, "");
        if (!url.isEmpty()) {
            TIMER.scheduleWithFixedDelay(new RemoteList(URI.create(url), add, remove), 0,
                Integer.getInteger("millrace.ik.seconds", SECONDS), TimeUnit.SECONDS);
        }
    }

    /** The dictionary's stop words, which it lets nobody change. */
    private static final class StopWords {
        private final Object segment;
        private final Method fill;
        private final Method disable;

        StopWords(Dictionary dictionary) throws ReflectiveOperationException {
            Field field = Dictionary.class.getDeclaredField("stopWordDict");
            field.setAccessible(true);
            segment = field.get(dictionary);
            fill = segment.getClass().getDeclaredMethod("fillSegment", char[].class);
            disable = segment.getClass().getDeclaredMethod("disableSegment", char[].class);
            fill.setAccessible(true);
            disable.setAccessible(true);
        }

        private void each(Method method, Collection<String> words) {
            try {
                for (String word : words) {
                    method.invoke(segment, (Object) word.toCharArray());
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        void add(Collection<String> words) {
            each(fill, words);
        }

        void remove(Collection<String> words) {
            each(disable, words);
        }
    }

    /** One list behind a URL. */
    private static final class RemoteList implements Runnable {
        private final HttpClient client = HttpClient.newHttpClient();
        private final URI uri;
        private final Consumer<Collection<String>> add;
        private final Consumer<Collection<String>> remove;
        private String etag = "";
        private String modified = "";
        private Set<String> words = Set.of();

        RemoteList(
            URI uri, Consumer<Collection<String>> add, Consumer<Collection<String>> remove) {
            this.uri = uri;
            this.add = add;
            this.remove = remove;
        }

        private HttpResponse<String> send(String method) throws Exception {
            HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(10))
                .method(method, HttpRequest.BodyPublishers.noBody());
            if (method.equals("HEAD") && !etag.isEmpty()) {
                request.header("If-None-Match", etag).header("If-Modified-Since", modified);
            }
            return client.send(
                request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        }

        private static String mark(HttpResponse<?> answer, String name) {
            return answer.headers().firstValue(name).orElse("");
        }

        /** What cannot be had now is asked for again next time. */
        @Override
        public void run() {
            try {
                HttpResponse<String> head = send("HEAD");
                boolean news = !mark(head, "ETag").equals(etag)
                    || !mark(head, "Last-Modified").equals(modified);
                if (head.statusCode() == 200 && news) {
                    take(send("GET"));
                }
            } catch (Exception e) {
                System.out.println("words of " + uri.getPort() + " cannot be had: " + e);
            }
        }

        private void take(HttpResponse<String> answer) {
            if (answer.statusCode() != 200) {
                return;
            }
            Set<String> now = new HashSet<>();
            for (String line : answer.body().split("\n")) {
                if (!line.isBlank()) {
                    now.add(line.trim());
                }
            }
            Set<String> gone = new HashSet<>(words);
            gone.removeAll(now);
            remove.accept(gone);
            add.accept(now);
            words = now;
            etag = mark(answer, "ETag");
            modified = mark(answer, "Last-Modified");
        }
    }

    // ---- what indexes see ----

    private static TokenizerFactory tokenizer(
        IndexSettings index, String name, Settings settings, boolean smart) {
        return new AbstractTokenizerFactory(index, settings, name) {
            @Override
            public Tokenizer create() {
                return new IKTokenizer(smart);
            }
        };
    }

    private static AnalyzerProvider<Analyzer> analyzer(
        IndexSettings index, String name, Settings settings, boolean smart) {
        Analyzer analyzer = new IKAnalyzer(smart);
        return new AbstractIndexAnalyzerProvider<Analyzer>(index, name, settings) {
            @Override
            public Analyzer get() {
                return analyzer;
            }
        };
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of(
            "ik_smart", (index, env, name, settings) -> tokenizer(index, name, settings, true),
            "ik_max_word", (index, env, name, settings) -> tokenizer(index, name, settings, false));
    }

    @Override
    public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
        return Map.of(
            "ik_smart", (index, env, name, settings) -> analyzer(index, name, settings, true),
            "ik_max_word", (index, env, name, settings) -> analyzer(index, name, settings, false));
    }
}
