package io.pipeset.benchmark.measure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import io.pipeset.benchmark.report.Console;

/**
 * Contenders that do the same by turns, and begin by turns: A B C B C A C A B. So a
 * disturbance of the machine affects all of them, and no contender always runs after the
 * same one.
 *
 * @param key its part of a figure's name
 * @param title for people
 * @param records the commands in a run
 * @param before runs before every run
 * @param check runs after every run, and throws if the outcome is wrong
 * @param contenders the contenders; the others are compared with the first
 */
public record Race(String key, String title, long records, Runnable before, Runnable check,
		List<Contender> contenders) {

	private static final double SLOW_SECONDS = 5;

	private static final int SLOW_RUNS = 3;

	/**
	 * Runs the race.
	 * @param meter takes the times
	 * @param rounds the number of rounds
	 * @param console hears of the progress
	 * @return the samples of each contender
	 */
	public List<Samples> run(Meter meter, Rounds rounds, Console console) {
		console.say(this.title);
		for (int round = 1; round <= rounds.warmUps(); round++) {
			StringBuilder line = new StringBuilder("warm-up " + round + " of " + rounds.warmUps() + ":");
			for (Contender contender : this.contenders) {
				if (contender.service() != null) {
					measure(contender, meter, line);
				}
			}
			console.progress(line.toString());
		}
		List<Samples> results = this.contenders.stream()
			.map((contender) -> new Samples(contender, this.records))
			.toList();
		List<Samples> turns = new ArrayList<>(results);
		for (int run = 1; run <= rounds.runs(); run++) {
			StringBuilder line = new StringBuilder("run " + run + " of " + rounds.runs() + ":");
			for (Samples samples : turns) {
				if (samples.contender().attempt() != null && (rounds.patient() || !isSlow(samples))) {
					samples.all().add(measure(samples.contender(), meter, line));
				}
			}
			Collections.rotate(turns, -1);
			console.progress(line.toString());
		}
		return results;
	}

	private Sample measure(Contender contender, Meter meter, StringBuilder line) {
		this.before.run();
		Sample sample = meter.measure(contender, this.records);
		this.check.run();
		line.append(String.format(Locale.ROOT, " %s %.2f s", contender.id(), sample.seconds()));
		return sample;
	}

	private static boolean isSlow(Samples samples) {
		return samples.all().size() == SLOW_RUNS && samples.least(Sample::seconds) > SLOW_SECONDS;
	}

	/**
	 * The number of runs of each contender.
	 *
	 * @param warmUps the rounds that do not count; only services have them, as they have
	 * code to compile
	 * @param runs the rounds that count
	 * @param patient whether contenders that take longer than five seconds also run in
	 * all rounds, and not only three times
	 */
	public record Rounds(int warmUps, int runs, boolean patient) {

	}

}
