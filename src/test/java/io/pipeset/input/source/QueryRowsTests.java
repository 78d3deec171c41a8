package io.pipeset.input.source;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;

import io.pipeset.OwnThread;
import io.pipeset.input.FetchedRows;
import io.pipeset.input.SourceException;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.body.Limits;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import io.pipeset.request.Client;
import io.pipeset.request.OneOfSeveralClients;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** A query is cancelled at moments that no caller can choose. */
class QueryRowsTests {

	private static EmbeddedPostgres postgres;

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

	private final MeddlingDriver driver = new MeddlingDriver();

	@BeforeAll
	static void startPostgres() throws IOException {
		postgres = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
	}

	@AfterAll
	static void endPostgres() throws IOException {
		postgres.close();
	}

	@BeforeEach
	void register() throws SQLException {
		this.scheduler.setDaemon(true);
		this.scheduler.initialize();
		DriverManager.registerDriver(this.driver);
		org.postgresql.Driver.deregister();
		org.postgresql.Driver.register();
	}

	@AfterEach
	void deregister() throws SQLException {
		DriverManager.deregisterDriver(this.driver);
		this.scheduler.shutdown();
	}

	@Test
	void aQueryThatIsCancelledBeforeTheFirstReadIsNotSent() throws Exception {
		Database database = database(2);
		try (OpenRows open = open(database)) {
			QueryRows body = open.rows();
			body.abort();
			assertThatThrownBy(() -> body.read(new Record())).isInstanceOf(IOException.class)
				.hasMessageContaining("was cancelled");
		}
		assertThat(this.driver.sent).hasValue(0);
		assertNothingIsHeld(database);
	}

	/** The database knows of no query yet when it is first asked to cancel it. */
	@Test
	void aQueryThatIsCancelledJustBeforeItIsSentEnds() throws Exception {
		Database database = database(2);
		try (OpenRows open = open(database)) {
			QueryRows body = open.rows();
			this.driver.beforeSent = () -> {
				OwnThread.run(body::abort).join();
				await().until(() -> this.driver.cancels.get() > 1);
			};
			CompletableFuture<Boolean> read = OwnThread.supply(() -> readSome(body));
			assertThatThrownBy(() -> read.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
				.hasStackTraceContaining("canceling statement");
		}
		assertThat(this.driver.sent).hasValue(1);
		assertNothingIsHeld(database);
	}

	@Test
	void aQueryThatIsCancelledWhileItWaitsForAConnectionIsNotSent() throws Exception {
		Database database = database(1);
		try (OpenRows open = open(database)) {
			QueryRows waiting = open.rows();
			Connection only = database.connect(Client.SERVICE, () -> false);
			CompletableFuture<Boolean> read = OwnThread.supply(() -> readSome(waiting));
			waiting.abort();
			assertThatThrownBy(() -> read.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
			database.giveBack(Client.SERVICE, only, false);
		}
		assertThat(this.driver.sent).hasValue(0);
		assertNothingIsHeld(database);
	}

	@Test
	void oneClientLeavesAConnectionToOthers() throws Exception {
		Database database = database(4);
		for (int i = 0; i < 3; i++) {
			database.connect(OneOfSeveralClients.named("one"), () -> false);
		}
		assertThatThrownBy(() -> database.connect(OneOfSeveralClients.named("one"), () -> true))
			.isInstanceOf(SourceException.class)
			.hasMessageContaining("The client 'one' has 3 of 4 connections of the query 'q'");
		database.connect(OneOfSeveralClients.named("two"), () -> true);
		database.close();
	}

	/** Its only connection can be taken again, and runs nothing. */
	private static void assertNothingIsHeld(Database database) throws Exception {
		Connection connection = database.connect(Client.SERVICE, () -> false);
		database.giveBack(Client.SERVICE, connection, false);
		database.close();
		await().until(() -> {
			try (Connection other = postgres.getPostgresDatabase().getConnection();
					Statement statement = other.createStatement();
					ResultSet rows = statement
						.executeQuery("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%'"
								+ " AND pid <> pg_backend_pid()")) {
				return rows.next() && rows.getInt(1) == 0;
			}
		});
	}

	private static boolean readSome(QueryRows rows) {
		try {
			return rows.read(new Record());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Database database(int connections) {
		SourceProperties.Query query = new SourceProperties.Query(
				"jdbc:postgresql://127.0.0.1:" + postgres.getPort() + "/postgres?" + MeddlingDriver.MARK, "postgres",
				null, "", 1000, Duration.ZERO, connections);
		return new Database("q", Objects.requireNonNull(query.url()), query,
				"SELECT 1 AS id, pg_sleep(3600)::text AS v", Duration.ofMinutes(10), this.scheduler);
	}

	private static OpenRows open(Database database) {
		QueryRows rows = new QueryRows(database, Client.SERVICE, Map.of(),
				new Templates(Operation.SET, new Templates.Texts(Template.parse("k"), Template.parse("{v}"), null,
						List.of(), List.of(), null, null, null)),
				Nulls.REFUSE);
		rows.begin(Limits.ofBytes(1 << 20), FetchedRows.Wait.NONE);
		return new OpenRows(rows);
	}

	/** Rows that are closed at the end of a test. */
	private record OpenRows(QueryRows rows) implements AutoCloseable {

		@Override
		public void close() {
			this.rows.close();
		}

	}

	/**
	 * PostgreSQL's driver, with a task before each query of connections with the mark. It
	 * is registered before the other one.
	 */
	private static final class MeddlingDriver implements Driver {

		private static final String MARK = "ApplicationName=meddling";

		private final AtomicInteger sent = new AtomicInteger();

		/** A connection is unwrapped for a cancel. */
		private final AtomicInteger cancels = new AtomicInteger();

		private volatile Runnable beforeSent = () -> {
		};

		@Override
		public @Nullable Connection connect(String url, Properties info) throws SQLException {
			return (acceptsURL(url))
					? meddling(Connection.class, Objects.requireNonNull(new org.postgresql.Driver().connect(url, info)))
					: null;
		}

		private <T> T meddling(Class<T> type, T real) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(self, method, arguments) -> {
						if (method.getName().equals("executeQuery")) {
							this.sent.incrementAndGet();
							this.beforeSent.run();
						}
						else if (method.getName().equals("unwrap")) {
							this.cancels.incrementAndGet();
						}
						try {
							Object result = method.invoke(real, arguments);
							return (result instanceof PreparedStatement statement)
									? meddling(PreparedStatement.class, statement) : result;
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					}));
		}

		@Override
		public boolean acceptsURL(String url) {
			return url.contains(MARK);
		}

		@Override
		public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
			return new DriverPropertyInfo[0];
		}

		@Override
		public int getMajorVersion() {
			return 1;
		}

		@Override
		public int getMinorVersion() {
			return 0;
		}

		@Override
		public boolean jdbcCompliant() {
			return false;
		}

		@Override
		public Logger getParentLogger() {
			return Logger.getGlobal();
		}

	}

}
