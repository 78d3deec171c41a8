package io.pipeset.benchmark.cases;

/** One thing to measure, which leaves its figures with the bench. */
@FunctionalInterface
public interface BenchmarkCase {

	/**
	 * Measures.
	 * @param bench the means of the case
	 */
	void run(Bench bench);

}
