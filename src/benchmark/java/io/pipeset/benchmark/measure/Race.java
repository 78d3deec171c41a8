package io.pipeset.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.pipeset.benchmark.report.Console;

/**
 * Contenders that do the same by turns: A B C A B C, so that what disturbs the machine
 * disturbs all of them.
 *
 * @param key its part of a figure's name
 * @param title for people
 * @param records the commands in a run
 * @param before what happens before every run
 * @param check what happens after every run, and throws where the outcome is wrong
 * @param contenders who; the first is what the others are compared with
 */
public record Race(String key, String title, long records, Runnable before, Runnable check,
		List<Contender> contenders) {

	private static final double SLOW_SECONDS = 10;

	private static final int SLOW_RUNS = 3;

	/**
	 * Runs it.
	 * @param meter takes the times
	 * @param rounds how often
	 * @param console hears of the progress
	 * @return the samples of each contender
	 */
	public List<Samples> run(Meter meter, Rounds rounds, Console console) {
		int warmUps = rounds.warmUps();
		int runs = rounds.runs();
		console.say(this.title);
		List<Samples> results = new ArrayList<>();
		this.contenders.forEach((contender) -> results.add(new Samples(contender, this.records)));
		for (int round = 0; round < warmUps + runs; round++) {
			boolean counts = round >= warmUps;
			StringBuilder line = new StringBuilder((counts) ? "run " + (round - warmUps + 1) + " of " + runs + ":"
					: "warm-up " + (round + 1) + " of " + warmUps + ":");
			for (Samples result : results) {
				if (result.contender().attempt() == null || (!rounds.patient() && isSlow(result))) {
					continue;
				}
				this.before.run();
				Sample sample = meter.measure(result.contender(), this.records);
				this.check.run();
				if (counts) {
					result.all().add(sample);
				}
				line.append(String.format(Locale.ROOT, " %s %.2f s", result.contender().id(), sample.seconds()));
			}
			console.progress(line.toString());
		}
		return results;
	}

	private static boolean isSlow(Samples samples) {
		return samples.all().size() == SLOW_RUNS && samples.least(Sample::seconds) > SLOW_SECONDS;
	}

	/**
	 * How often everyone runs.
	 *
	 * @param warmUps rounds that do not count
	 * @param runs rounds that do
	 * @param patient whether those who take longer than ten seconds run as often, and not
	 * three times only
	 */
	public record Rounds(int warmUps, int runs, boolean patient) {

	}

}
