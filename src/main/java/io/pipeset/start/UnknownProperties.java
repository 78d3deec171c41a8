package io.pipeset.start;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.job.ClientsProperties;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Refuses, before anything is opened, properties under {@code pipeset} that there are
 * not: Spring Boot ignores them, and a limit that is misspelt is none. Variables of the
 * environment are looked at as well, except those that are there for other reasons.
 */
final class UnknownProperties implements BeanFactoryPostProcessor {

	private static final ConfigurationPropertyName ALL = ConfigurationPropertyName.of("pipeset");

	/**
	 * A Service of Kubernetes or a link of Docker that is called pipeset, and what the
	 * tests are told.
	 */
	private static final Pattern FOREIGN_VARIABLE = Pattern.compile(
			"PIPESET_(TEST_.*|(.*_)?NAME|(.*_)?ENV_.*|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_[0-9]+_(TCP|UDP|SCTP)(_.*)?)?)");

	private static final String CONTROL = ALL + ".control";

	private static final ConfigurationPropertyName CLIENTS = ALL.append("clients");

	/** Stands for the name of a client. */
	private static final ConfigurationPropertyName CLIENT = CLIENTS.append("name");

	private static final Pattern CLIENT_VARIABLE = Pattern.compile("PIPESET_CLIENTS_[^_]+_");

	private static final Set<String> CONTROL_PARTS = Set.of("Cluster", "Sentinel", "Ssl");

	private static final int MOST_NAMED = 3;

	private final ConfigurableEnvironment environment;

	UnknownProperties(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		Map<String, Boolean> known = known(beans);
		List<String> unknown = new ArrayList<>();
		List<String> remedies = new ArrayList<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> enumerable) {
				for (String name : enumerable.getPropertyNames()) {
					// Containers may be given variables with dots, which Boot reads as
					// they are.
					boolean variable = source instanceof SystemEnvironmentPropertySource && name.indexOf('.') < 0;
					if (isMeant(name, variable)
							&& known.entrySet().stream().noneMatch((row) -> isSpelling(name, variable, row))) {
						unknown.add(name + " (" + source.getName() + ")");
						remedies.add(nearest(name, variable, known));
					}
				}
			}
		}
		if (!unknown.isEmpty()) {
			throw new UnknownPropertyException(unknown, remedies);
		}
	}

	/** The names of all properties, and whether each may have several values. */
	private static Map<String, Boolean> known(ConfigurableListableBeanFactory beans) {
		Map<String, Boolean> known = new TreeMap<>();
		for (String bean : beans.getBeanDefinitionNames()) {
			Class<?> type = beans.getType(bean, false);
			ConfigurationProperties properties = (type != null)
					? AnnotatedElementUtils.findMergedAnnotation(type, ConfigurationProperties.class) : null;
			if (type != null && properties != null && properties.prefix().startsWith(ALL + ".")) {
				for (Parameter value : type.getDeclaredConstructors()[0].getParameters()) {
					add(known, properties.prefix(), value.getName(), value.getType());
				}
			}
		}
		addControl(known, CONTROL, DataRedisProperties.class);
		addPolicy(known, CLIENT.toString(), ClientsProperties.Policy.class);
		return known;
	}

	/** Boot's own settings of a Redis, as far as they have a meaning here. */
	private static void addControl(Map<String, Boolean> known, String prefix, Class<?> type) {
		for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(type)) {
			Class<?> value = property.getPropertyType();
			if (CONTROL_PARTS.contains(value.getSimpleName())) {
				addControl(known, prefix + '.' + property.getName(), value);
			}
			else if (property.getWriteMethod() != null && value.getEnclosingClass() == null) {
				add(known, prefix, property.getName(), value);
			}
		}
	}

	/** What is said of each client. */
	private static void addPolicy(Map<String, Boolean> known, String prefix, Class<?> type) {
		for (Parameter value : type.getDeclaredConstructors()[0].getParameters()) {
			if (value.getType().isRecord()) {
				addPolicy(known, prefix + '.' + value.getName(), value.getType());
			}
			else {
				add(known, prefix, value.getName(), value.getType());
			}
		}
	}

	private static void add(Map<String, Boolean> known, String prefix, String name, Class<?> type) {
		known.put(prefix + '.' + DataObjectPropertyName.toDashedForm(name), Iterable.class.isAssignableFrom(type));
	}

	private static boolean isMeant(String name, boolean variable) {
		if (variable) {
			String upper = name.toUpperCase(Locale.ROOT);
			return upper.startsWith("PIPESET_") && !FOREIGN_VARIABLE.matcher(upper).matches();
		}
		return ALL.isAncestorOf(ConfigurationPropertyName.adapt(name, '.'));
	}

	private static boolean isSpelling(String name, boolean variable, Map.Entry<String, Boolean> row) {
		if (variable) {
			// As Boot maps them: without dashes, or with underscores for them.
			String upper = CLIENT_VARIABLE.matcher(name.toUpperCase(Locale.ROOT))
				.replaceFirst(variable(CLIENT.toString()) + '_');
			String single = (row.getValue()) ? upper.replaceFirst("_[0-9]+$", "") : upper;
			return single.equals(variable(row.getKey().replace("-", "")))
					|| single.equals(variable(row.getKey().replace('-', '_')));
		}
		ConfigurationPropertyName property = ConfigurationPropertyName.of(row.getKey());
		ConfigurationPropertyName named = ConfigurationPropertyName.adapt(name, '.');
		int client = CLIENT.getNumberOfElements();
		ConfigurationPropertyName met = (CLIENTS.isAncestorOf(named) && named.getNumberOfElements() > client)
				? CLIENT.append(named.subName(client)) : named;
		return met.equals(property) || (row.getValue() && property.isParentOf(met) && met.isLastElementIndexed());
	}

	private static String variable(String property) {
		return property.replace('.', '_').toUpperCase(Locale.ROOT);
	}

	private static String nearest(String name, boolean variable, Map<String, Boolean> known) {
		String met = name.toLowerCase(Locale.ROOT).replace('_', '.');
		return known.keySet()
			.stream()
			.sorted(Comparator.comparingInt((property) -> distance(met, property)))
			.limit(MOST_NAMED)
			.map((property) -> (variable) ? variable(property.replace("-", "")) : property)
			.collect(Collectors.joining(", "));
	}

	/** How many letters have to be changed, added or left out. */
	private static int distance(String from, String to) {
		int[] row = new int[to.length() + 1];
		for (int j = 0; j <= to.length(); j++) {
			row[j] = j;
		}
		for (int i = 1; i <= from.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= to.length(); j++) {
				int changed = diagonal + ((from.charAt(i - 1) == to.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
			}
		}
		return row[to.length()];
	}

}
