package io.pipeset.project;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchRule;
import io.lettuce.core.api.StatefulConnection;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.Slab;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.ServiceProcess;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisOperations;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/** The rules on which package may use which, and why. */
class ArchitectureTests {

	/** Each folder with the folders that it may use, and does. */
	private static final String FOLDERS = """
			web      | keyspace run keep input receipt request memory engine record report
			keyspace | run keep input request memory engine record report
			start    | run keep input request memory record report
			run      | keep input receipt request memory engine record report
			keep     | input request memory engine record report
			input    | receipt request memory engine record report
			receipt  | memory engine record report
			request  | memory engine record report
			memory   | engine record report
			engine   | record report
			record   | ''
			report   | ''
			dev      | ''
			""";

	/** Each package with the packages that it may use. */
	private static final String PLACES = """
			report                | ''
			record.encoding       | ''
			record.memory         | ''
			record                | record.encoding record.memory
			record.body           | record record.encoding record.memory
			record.grammar        | record record.body record.encoding
			record.mapping        | record record.encoding record.body record.grammar
			record.json           | record record.encoding record.body record.grammar record.mapping
			record.csv            | record record.encoding record.memory record.body record.grammar record.mapping
			record.resp           | record record.encoding record.body
			record.format         | record record.body record.mapping record.json record.csv record.resp
			engine.pipeline.flush | ''
			engine.slab           | record record.encoding record.memory report
			engine.pipeline.call  | record engine.slab engine.pipeline.flush
			engine.pipeline       | engine.slab record report engine.pipeline.flush engine.pipeline.call
			engine.servers        | record engine.slab engine.pipeline engine.pipeline.call
			engine.pipeline.boot  | engine.slab engine.pipeline engine.pipeline.call engine.servers report
			engine.lane           | record record.memory report engine.slab engine.pipeline engine.pipeline.call engine.pipeline.flush engine.servers
			engine.scan           | record report engine.pipeline engine.pipeline.call engine.servers engine.lane
			engine.script         | record engine.pipeline engine.pipeline.call engine.servers
			memory                | report record.memory engine.pipeline engine.lane
			request               | report record.encoding record.memory record record.body record.mapping record.format engine.pipeline.flush engine.pipeline.call engine.pipeline engine.servers engine.lane engine.script memory
			receipt               | report record engine.slab engine.pipeline.call engine.pipeline engine.servers engine.lane memory
			input                 | report record.encoding record.memory record record.body record.mapping record.format engine.pipeline.call engine.pipeline engine.servers engine.lane engine.scan memory request receipt
			input.source          | report record.encoding record.memory record record.body record.grammar record.mapping engine.pipeline engine.lane request input
			keep.control          | report engine.pipeline.boot request
			keep                  | report record.encoding record.memory record record.body record.mapping record.format engine.slab engine.pipeline.call engine.pipeline engine.servers engine.lane memory request input input.source keep.control
			run                   | report record.memory record record.body record.mapping engine.slab engine.pipeline.call engine.pipeline engine.servers engine.lane engine.script memory request receipt input keep.control keep
			keyspace              | report record.encoding record.memory record engine.slab engine.pipeline.call engine.pipeline engine.servers engine.lane engine.scan memory request input keep run
			keyspace.tuning       | report record record.mapping engine.pipeline.flush engine.pipeline.call engine.pipeline engine.servers engine.lane memory request input keep run
			web.problem           | engine.pipeline.call request
			web.access            | record request web.problem
			web.console           | ''
			web.server            | record.body memory request input run web.problem web.console
			web                   | report record.encoding record record.body record.mapping record.format engine.pipeline.call engine.script memory request receipt input input.source keep.control keep run keyspace keyspace.tuning web.problem web.server
			web.document          | report web.console web
			start                 | report record.encoding record.format memory request input keep run
			dev                   | ''
			""";

	private static JavaClasses withTests = new ClassFileImporter().importPaths("target/classes", "target/test-classes");

	private static JavaClasses service = withTests
		.that(DescribedPredicate.describe("are not of the tests", (type) -> isOfTheJar(type) || isOfDevelopment(type)));

	/** They would take a fifth of the heap until the process ends. */
	@AfterAll
	static void forget() {
		withTests = null;
		service = null;
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = FOLDERS)
	void aFolderUsesOnlyThoseBelowIt(String name, String below) {
		Set<String> used = service.stream()
			.filter((type) -> name.equals(folder(type)))
			.flatMap((type) -> type.getDirectDependenciesFromSelf().stream())
			.map((dependency) -> folder(dependency.getTargetClass()))
			.filter((other) -> !other.isEmpty() && !other.equals(name))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(String.join(" ", used))
			.as("Thirteen folders are what docs/developers/architecture.md shows first: move the class to the folder of"
					+ " what it uses, or let this folder own an interface that the other one implements")
			.isEqualTo(Stream.of(below.split(" ", -1)).sorted().collect(Collectors.joining(" ")));
	}

	@Test
	void thereAreThirteenFolders() {
		assertThat(service.stream().map(ArchitectureTests::folder).filter((name) -> !name.isEmpty()).distinct())
			.containsExactlyInAnyOrderElementsOf(FOLDERS.lines().map((row) -> row.replaceAll(" *\\|.*", "")).toList());
	}

	@Test
	void theRedisForDevelopmentIsNotInTheJar() {
		assertThat(service.stream().filter((type) -> folder(type).equals("dev"))).isNotEmpty()
			.as("The jar is packed from target/classes: move the class to src/dev/java")
			.noneMatch(ArchitectureTests::isOfTheJar);
	}

	private static boolean isOfTheJar(JavaClass type) {
		return ImportOption.Predefined.DO_NOT_INCLUDE_TESTS
			.includes(Location.of(type.getSource().orElseThrow().getUri()));
	}

	/** The classes of src/dev/java are compiled once more with the tests. */
	private static boolean isOfDevelopment(JavaClass type) {
		return Files.exists(Path.of("target/dev-classes", type.getName().replace('.', '/') + ".class"));
	}

	/** The folder of a class of the service, or an empty string for any other class. */
	private static String folder(JavaClass type) {
		String[] names = type.getPackageName().split("\\.", -1);
		return (type.getPackageName().startsWith("io.pipeset.") && names.length > 2) ? names[2] : "";
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = PLACES)
	void aPackageUsesOnlyThoseBelowIt(String name, String below) {
		Set<String> allowed = new TreeSet<>(Set.of("io.pipeset." + name));
		for (String other : below.split(" ", -1)) {
			allowed.add("io.pipeset." + other);
		}
		check(noClasses().that()
			.resideInAPackage("io.pipeset." + name)
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("reside in io.pipeset outside of " + allowed,
					(JavaClass other) -> other.getPackageName().startsWith("io.pipeset")
							&& !allowed.contains(other.getPackageName())))
			.because("each package can be read, and changed, knowing only those below it: move the class to the"
					+ " package of what it uses, hand it a number instead of an object, or let this package own an"
					+ " interface that the other one implements"));
	}

	@Test
	void everyPackageHasItsPlace() {
		Set<String> places = new TreeSet<>(Set.of("io.pipeset"));
		PLACES.lines().forEach((row) -> places.add("io.pipeset." + row.replaceAll(" *\\|.*", "")));
		assertThat(service.stream().map(JavaClass::getPackageName).distinct())
			.as("Give a new package its row in PLACES and in docs/developers/architecture.md,"
					+ " and take out the row of one that is gone")
			.containsExactlyInAnyOrderElementsOf(places);
	}

	@Test
	void packagesHaveNoCycles() {
		slices().matching("io.pipeset.(**)")
			.should()
			.beFreeOfCycles()
			.because("what goes in circles can only be understood, and tested, as a whole:"
					+ " PLACES says which of the two may use the other")
			.check(service);
	}

	@Test
	void recordsKnowOnlyTheJdkAndAParserOfNumbers() {
		check(classes().that()
			.resideInAPackage("io.pipeset.record..")
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage("io.pipeset.record..", "java..", "org.jspecify..", "ch.randelshofer.fastdoubleparser..")
			.because("parsing is fuzzed and measured without Spring and without Redis. "
					+ "Let a caller above pass in what a parser needs of them"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "io.lettuce..", "org.springframework.data.redis.." })
	void onlyThePipelineAndTheControlRedisKnowTheDriver(String driver) {
		check(noClasses().that()
			.resideOutsideOfPackages("io.pipeset.engine.pipeline..", "io.pipeset.engine.servers..",
					"io.pipeset.keep.control..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(driver)
			.because("what Lettuce does and does not do is dealt with in one place."
					+ " Add a method to Pipeline or RedisCalls, and call that"));
	}

	@Test
	void slabsKnowOnlyTheJdkAndNettysBytes() {
		check(classes().that()
			.resideInAPackage("io.pipeset.engine.slab..")
			.should()
			.onlyDependOnClassesThat(
					DescribedPredicate.describe("are of slab, record, report, the JDK or Netty's bytes",
							(used) -> JavaClass.Predicates
								.resideInAnyPackage("io.pipeset.engine.slab..", "io.pipeset.record..",
										"io.pipeset.report..", "java..", "org.jspecify..", "io.netty.buffer")
								.test(used) || used.isEquivalentTo(DecoderException.class)))
			.because("what becomes of a command is decided, and tested, without a connection."
					+ " Let the pipeline hand over bytes, and put whatever knows Lettuce or Spring there"));
	}

	@Test
	void aConnectionSeesOfASlabOnlyItsAttempt() {
		check(noClasses().that()
			.resideInAPackage("io.pipeset.engine.pipeline..")
			.should()
			.callMethodWhere(DescribedPredicate.describe("asks a slab for more than its attempt",
					(call) -> call.getTargetOwner().isEquivalentTo(Slab.class)
							&& !Set.of("attempt", "toString").contains(call.getTarget().getName())))
			.because("a connection writes bytes and counts off replies, and knows no commands."
					+ " Add a method to Exchange, and call that"));
	}

	@Test
	void nobodyElseReadsBytesOfTheNetwork() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.pipeset.engine.pipeline..", "io.pipeset.engine.servers..",
					"io.pipeset.engine.slab..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("io.netty..")
			.because("commands are written, and replies are read, in one place."
					+ " Ask the slab for what it knows of its commands"));
	}

	@Test
	void onlyOneClassLendsConnections() {
		check(noClasses().that(areNot("ConnectionLender"))
			.and()
			// Records share one connection, which Lettuce keeps in order.
			.resideOutsideOfPackage("io.pipeset.keep.control..")
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("lend connections",
					(used) -> used.isAssignableTo(RedisOperations.class) || used.isAssignableTo(RedisConnection.class)
							|| used.getSimpleName().equals("RedisCallback")))
			.because("whoever lends a connection must not give it back with an answer still to come"));
	}

	@Test
	void onlyOneClassSendsSingleCommands() {
		check(noClasses().that(areNot("CallConnection", "SentinelLink"))
			.should()
			.callMethodWhere(DescribedPredicate.describe("asks a connection for its commands",
					(call) -> Set.of("async", "sync", "reactive").contains(call.getTarget().getName())
							&& call.getTargetOwner().isAssignableTo(StatefulConnection.class)))
			.because("it closes a connection whenever it gives up on an answer"));
		check(noClasses().that(areNot("Pipeline"))
			.should()
			.callMethodWhere(DescribedPredicate.describe("writes to a connection",
					(call) -> call.getTarget().getName().equals("dispatch")
							&& call.getTargetOwner().isAssignableTo(StatefulConnection.class)))
			.because("what is written by the side is answered by the side"));
	}

	private static DescribedPredicate<JavaClass> areNot(String... names) {
		return DescribedPredicate.describe("are not " + String.join(", ", names),
				(type) -> Stream.of(names).noneMatch(type.getName().replaceAll(".*\\.|\\$.*", "")::equals));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jakarta.servlet..", "org.springframework.http..", "org.springframework.web..",
			"org.apache.." })
	void onlyTheWebKnowsHttp(String http) {
		check(noClasses().that()
			.resideOutsideOfPackages("io.pipeset.web..")
			.and()
			.resideOutsideOfPackage("io.pipeset.engine.pipeline..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(http)
			.because("a job runs the same whoever asks for it"));
	}

	@Test
	void onlyTheWebServerKnowsTomcat() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.pipeset.web.server..", "io.pipeset.engine.pipeline..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.apache..")
			.because("what Tomcat does and does not do is dealt with in one place."
					+ " Put the class into web.server, or let it ask one there"));
	}

	@Test
	void nothingRunsInTheCommonPool() {
		noClasses().should()
			.callMethodWhere(DescribedPredicate.describe("leaves it to the JDK which thread runs a task",
					(call) -> call.getTargetOwner().isAssignableTo(CompletionStage.class)
							&& call.getTarget().getName().endsWith("Async")
							&& call.getTarget()
								.getRawParameterTypes()
								.stream()
								.noneMatch((type) -> type.isEquivalentTo(Executor.class))))
			.because("the common pool may have one thread only, in which tasks that block wait for each other."
					+ " Name an executor; tests have OwnThread")
			.check(withTests);
	}

	@Test
	void testsOfProcessesAreLeftOutOfAQuickBuild() {
		classes().that()
			.haveSimpleNameEndingWith("Tests")
			.and(DescribedPredicate.describe("start the service in a process",
					(type) -> type.getMethodCallsFromSelf()
						.stream()
						.anyMatch((call) -> call.getTarget().getOwner().isEquivalentTo(ServiceProcess.class)
								&& call.getName().startsWith("start"))))
			.should()
			.beAnnotatedWith(ProcessTest.class)
			.because("a process takes seconds of a processor; CI and mvn -Pprocesses verify run them")
			.check(withTests);
	}

	@Test
	void idsOfJobsCannotBeGuessed() {
		check(classes().that()
			.haveSimpleName("JobId")
			.should()
			.dependOnClassesThat()
			.areAssignableTo(SecureRandom.class)
			.andShould()
			.onlyDependOnClassesThat()
			.areNotAssignableTo(ThreadLocalRandom.class)
			.because("whoever knows the id of a reliable pop may acknowledge its values,"
					+ " and other generators tell their next number by the last ones"));
	}

	@Test
	void nothingIsInjectedIntoFields() {
		check(noFields().should()
			.beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
			.orShould()
			.beAnnotatedWith("org.springframework.beans.factory.annotation.Value")
			.orShould()
			.beAnnotatedWith("jakarta.inject.Inject")
			.orShould()
			.beAnnotatedWith("jakarta.annotation.Resource")
			.because("a constructor says what a class needs, and its fields can be final"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "Manager", "Helper", "Util", "Utils", "Impl", "Dto" })
	void namesSayWhatAClassIs(String ending) {
		check(noClasses().should()
			.haveSimpleNameEndingWith(ending)
			.because("such a name says nothing of what the class is for"));
	}

	@Test
	void nothingWritesToTheConsole() {
		check(noClasses().should()
			.accessField(System.class, "out")
			.orShould()
			.accessField(System.class, "err")
			.because("what is worth saying goes to the log"));
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(service.stream()
			.map(JavaClass::getPackage)
			.filter((place) -> !place.isAnnotatedWith(NullMarked.class))
			.map(JavaPackage::getName)
			.distinct()).isEmpty();
	}

	private static void check(ArchRule rule) {
		rule.check(service);
	}

}
