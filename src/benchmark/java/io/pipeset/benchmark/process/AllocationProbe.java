package io.pipeset.benchmark.process;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;

import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;

/**
 * Counts exactly the bytes that a JVM's threads have allocated, those in buffers not yet
 * full included. JDK 21 and later keep one sum, also for ended and virtual threads; for
 * older ones the probe adds up the threads that live. The costs of the probe itself are
 * left out.
 */
public final class AllocationProbe implements AutoCloseable {

	private static final String OWN_THREADS = "RMI ";

	private final JMXConnector connector;

	private final MBeanServerConnection server;

	private final ThreadMXBean threads;

	private Map<Long, Long> before = Map.of();

	private AllocationProbe(JMXConnector connector) throws IOException {
		this.connector = connector;
		this.server = connector.getMBeanServerConnection();
		this.threads = ManagementFactory.newPlatformMXBeanProxy(this.server, ManagementFactory.THREAD_MXBEAN_NAME,
				ThreadMXBean.class);
	}

	@SuppressWarnings("BanJNDI") // the other side is a JVM that we have started
	static AllocationProbe attach(long pid) {
		try {
			VirtualMachine machine = VirtualMachine.attach(String.valueOf(pid));
			try {
				String url = machine.startLocalManagementAgent();
				return new AllocationProbe(JMXConnectorFactory.connect(new JMXServiceURL(url)));
			}
			finally {
				machine.detach();
			}
		}
		catch (IOException | AttachNotSupportedException ex) {
			throw new BenchmarkException("Cannot look into the JVM " + pid, ex);
		}
	}

	/** Begins to count. */
	public void begin() {
		this.before = snapshot();
	}

	/**
	 * The bytes that were allocated since the beginning.
	 * @return bytes
	 */
	public long allocated() {
		long sum = 0;
		for (Map.Entry<Long, Long> thread : snapshot().entrySet()) {
			sum += thread.getValue() - this.before.getOrDefault(thread.getKey(), 0L);
		}
		return sum;
	}

	private Map<Long, Long> snapshot() {
		Map<Long, Long> allocated = new HashMap<>();
		long own = 0;
		long[] ids = this.threads.getAllThreadIds();
		ThreadInfo[] infos = this.threads.getThreadInfo(ids);
		long[] bytes = this.threads.getThreadAllocatedBytes(ids);
		for (int i = 0; i < ids.length; i++) {
			if (infos[i] != null && infos[i].getThreadName().startsWith(OWN_THREADS)) {
				own += Math.max(0, bytes[i]);
			}
			else if (infos[i] != null) {
				allocated.put(ids[i], Math.max(0, bytes[i]));
			}
		}
		long total = total();
		return (total < 0) ? allocated : Map.of(0L, total - own);
	}

	private long total() {
		try {
			Object total = this.server.getAttribute(new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
					"TotalThreadAllocatedBytes");
			return (total instanceof Long bytes) ? bytes : -1;
		}
		catch (AttributeNotFoundException ex) {
			return -1;
		}
		catch (JMException | IOException ex) {
			throw new BenchmarkException("Cannot read what a JVM has allocated", ex);
		}
	}

	@Override
	public void close() {
		try {
			this.connector.close();
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot let go of a JVM", ex);
		}
	}

}
