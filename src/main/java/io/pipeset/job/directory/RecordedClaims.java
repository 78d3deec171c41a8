package io.pipeset.job.directory;

import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.JobRecords;
import io.pipeset.job.spool.FolderClaims;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/** The claims of spool folders in the control Redis, where every instance sees them. */
@Component
class RecordedClaims implements FolderClaims {

	private static final Logger logger = LoggerFactory.getLogger(RecordedClaims.class);

	private final JobRecords records;

	RecordedClaims(JobRecords records) {
		this.records = records;
	}

	@Override
	public void claim(String folder) {
		try {
			this.records.claimFolder(folder);
		}
		catch (ControlRedisException ex) {
			logger.warn("The spool folder {} is taken over without a claim, because its lock is free: {}", folder,
					ex.getMessage());
		}
	}

	@Override
	public boolean isClaimed(String folder) {
		try {
			return this.records.isFolderClaimed(folder);
		}
		catch (ControlRedisException ex) {
			logger.debug("Whether the spool folder {} is claimed cannot be checked", folder, ex);
			return false;
		}
	}

}
