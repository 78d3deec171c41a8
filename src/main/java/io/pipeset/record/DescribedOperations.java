package io.pipeset.record;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

/**
 * The operations that servers have described to this process, each with a number, so that
 * a slab keeps a number for each of its commands and not a reference.
 */
final class DescribedOperations {

	/**
	 * The most operations of a process: a server with all known modules has about 600.
	 */
	static final int MOST = 1023;

	private static final List<Operation> all = new CopyOnWriteArrayList<>();

	private static final Map<Map.Entry<String, Description>, Operation> known = new ConcurrentHashMap<>();

	private DescribedOperations() {
	}

	static @Nullable Operation get(String name, Description description) {
		Map.Entry<String, Description> key = Map.entry(name, description);
		Operation found = known.get(key);
		return (found != null) ? found : add(key);
	}

	private static synchronized @Nullable Operation add(Map.Entry<String, Description> key) {
		Operation found = known.get(key);
		int number = Operation.values().size() + all.size();
		if (found != null || number > MOST) {
			return found;
		}
		Operation added = Operation.described(number, key.getKey(), key.getValue());
		all.add(added);
		known.put(key, added);
		return added;
	}

	static @Nullable Description description(Operation operation) {
		return known.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == operation)
			.map((entry) -> entry.getKey().getValue())
			.findFirst()
			.orElse(null);
	}

	static Operation get(int number) {
		return all.get(number - Operation.values().size());
	}

}
