/** Every limit that is not a user's to set, or the default of one that is. Units are last in the name. */

export const BODY_BYTES_MAX = 1_048_576
export const HEADER_CHARS_MAX = 16_384
/** Read and thrown away after a body passed its cap, so that the client has finished writing and sees the 413. */
export const BODY_DISCARD_BYTES_MAX = 8_388_608
/** The native server has 10 s built in for slow senders; the other one is set to the same. */
export const HEADERS_TIMEOUT_MS = 10_000
export const REQUEST_TIMEOUT_MS = 30_000
export const KEEP_ALIVE_TIMEOUT_MS = 10_000
export const REPLY_STALL_TIMEOUT_MS = 30_000
export const REQUEST_ID_CHARS_MAX = 256
export const JSON_DEPTH_MAX = 32
export const BATCH_MESSAGES_MAX = 20
export const IN_FLIGHT_MAX = 4_096
export const CONNECTIONS_MAX = 16_384

export const FILTERS_MAX = 50
export const IN_VALUES_MAX = 1_000
/** How many tables a row filter may lead through: to the parent, its parent, and one more. */
export const PARENT_LEVELS_MAX = 3
export const VALUE_CHARS_MAX = 65_536
/** A value to be written may be a document; a body holds no more than this unless the operator says so. */
export const WRITE_VALUE_CHARS_MAX = 1_048_576
/** As many dimensions as PostgreSQL gives an array. */
export const ARRAY_DIMENSIONS_MAX = 6
/** Digits after the point of a decimal, where an engine limits a decimal's digits at all. */
export const BOUNDED_FRACTION_DIGITS_MAX = 30
export const IDEMPOTENCY_KEY_CHARS_MAX = 128
export const ORDER_COLUMNS_MAX = 16
export const METRICS_MAX = 32
export const GROUP_COLUMNS_MAX = 16
export const ECHO_CHARS_MAX = 64
export const COMMENT_CHARS_MAX = 300
export const ENUM_LABELS_SHOWN_MAX = 200
/** A driver's message on its way to the operator. */
export const REASON_CHARS_MAX = 300
/** Tables named in a warning about what the database login may do; the counts beside them are exact. */
export const LOGIN_TABLES_LISTED_MAX = 20
/** Names or labels that an error lists before it says how many more there are. */
export const CHOICES_SHOWN_MAX = 24
/** Characters of a tool's column list; a longer one leaves comments and labels to schema_overview. */
export const COLUMN_LIST_CHARS_MAX = 6_000
/** Cut cells that a result names one by one. */
export const CUT_ITEMS_MAX = 20

export const ROW_CAP = 200
export const PAGE_SIZE = 50
export const QUERY_TIMEOUT_MS = 5_000
export const QUERY_TIMEOUT_MAX_MS = 30_000
export const RESPONSE_CHARS_MAX = 24_000
export const CELL_CHARS_MAX = 4_000
export const MAX_AFFECTED_ROWS = 1
/** Rows that a group of an aggregate has at least, or it is not given. One: every group is given. */
export const MIN_GROUP_SIZE = 1
/** Tables of more rows than this are searched and aggregated by an index only. */
export const REQUIRE_INDEX_ABOVE_ROWS = 1_000_000
export const RESULT_BYTES_MAX = 16_777_216

export const POOL_CONNECTIONS_MAX = 4
export const ACQUIRE_TIMEOUT_MS = 5_000
export const CONNECT_TIMEOUT_MS = 10_000
export const IDLE_TIMEOUT_MS = 300_000
export const LIFETIME_MAX_MS = 3_600_000
export const CANCEL_GRACE_MS = 2_000
/** A cancel that arrives before the statement does is lost on the server, so it is sent again until the statement ends. */
export const CANCEL_REPEAT_MS = 250
/** How long a place in a pool waits for the server to be done with a statement that did not obey, and how often that is asked. */
export const SESSION_GONE_TIMEOUT_MS = 60_000
export const SESSION_GONE_POLL_MS = 250
export const KEEP_ALIVE_DELAY_MS = 30_000
export const NAMED_STATEMENTS_MAX = 200

/** A start with hundreds of connectors must not open hundreds of threads and connections in one moment. */
export const INTROSPECTIONS_AT_ONCE = 4
/** How long a connector that was removed waits for requests that came before and have not called yet. */
export const DOOR_DEADLINE_MS = 60_000
export const INTROSPECTION_TIMEOUT_MS = 60_000
/** What one catalog query may return: some hundred thousand columns. */
export const INTROSPECTION_BYTES_MAX = 268_435_456
/** A changed schema makes the connector introspect again, but a broken one must not make it do so all the time. */
export const SCHEMA_REFRESH_INTERVAL_MS = 30_000
export const WORKER_START_TIMEOUT_MS = 30_000
/** Longer than any query may take, so that it only ever fires for a worker that stopped answering. */
export const CALL_DEADLINE_GRACE_MS = 5_000
export const BACKOFF_MIN_MS = 250
export const BACKOFF_MAX_MS = 30_000
/** When a reload whose admin store failed is tried again; the pause then grows to the same ceiling. */
export const RELOAD_RETRY_MIN_MS = 500

/** How long an administrator who asks for a reload is kept waiting for what comes of it. The reload itself goes on. */
export const RELOAD_ANSWER_MAX_MS = 120_000
/**
 * An instance that has not written to the store for this long, by the store's own clock, is not waited for: three of the writes that it makes
 * every 15 seconds. Its row, and what it said of reloads, goes after the longer time.
 */
export const INSTANCE_LIVE_MS = 45_000
export const INSTANCE_KEPT_MS = 3_600_000
/** Requests to reload whose reports each instance keeps in the store, the text of one report, and of one fault in it. */
export const RELOAD_REPORTS_KEPT = 20
export const RELOAD_REPORT_CHARS_MAX = 131_072
export const RELOAD_FAULT_CHARS_MAX = 500
/** How often a command asks the store what the instances report, and for how long it asks one that fails. */
export const RELOAD_POLL_INTERVAL_MS = 250
export const RELOAD_STORE_AWAY_MAX_MS = 15_000
export const RELOAD_WAIT_CEILING_S = 3_600
export const DRAIN_DEADLINE_MS = 25_000
/** A signal to end that comes this soon after another is the same request, delivered twice. */
export const SIGNAL_ECHO_MS = 1_000
export const AUDIT_ACK_TIMEOUT_MS = 10_000

export const TOOL_LISTS_CACHED_MAX = 1_000
/** Snapshots over which a list is made anew although nobody asked for it again. */
export const TOOL_LIST_EPOCHS_CARRIED = 8
export const STATEMENT_SHAPES_MAX = 2_000
/** How long one look at a table's names may serve calls that follow each other on a session: whoever renames waits for it. */
export const GUARDED_TRANSACTION_MS = 50
/** What the protocol can count: a 16-bit number. */
export const POSTGRES_PARAMS_MAX = 65_535
/** The same, by MySQL's protocol. */
export const MYSQL_PARAMS_MAX = 65_535
/** The server takes 2,100, of which the procedure that runs a statement has some of its own. */
export const SQLSERVER_PARAMS_MAX = 2_090
/** Values of a list that are parameters of their own; a longer list is one parameter, so that many lists fit a statement. */
export const SQLSERVER_LIST_PARAMS_MAX = 16
/** The server's patterns have 8,000 bytes, two for each unit of UTF-16. */
export const SQLSERVER_PATTERN_CHARS_MAX = 4_000
/** What the server takes out of a JSON text as a single value. */
export const SQLSERVER_JSON_MEMBER_CHARS_MAX = 4_000
/** Result sets that one procedure may give, shown or not: what describes each is kept until the call ends. */
export const RESULT_SETS_MAX = 1_000
/** What describes one column of an answer beside its name: its table, its schema, and what the driver makes of them. */
export const FIELD_BYTES = 256

export const AUTH_FAILURES_PER_MINUTE_MAX = 30
export const FOLD_AFTER_PER_MINUTE = 10
export const ADDRESSES_TRACKED_MAX = 10_000

/** What a policy may raise the row, character and affected-row limits to. */
export const ROW_CAP_MAX = 10_000
export const RESPONSE_CHARS_CEILING = 1_000_000
export const AFFECTED_ROWS_CEILING = 10_000
export const GROUP_SIZE_CEILING = 1_000_000
export const TABLE_ROWS_CEILING = 1_000_000_000_000
export const POLICY_TEXT_CHARS_MAX = 4_194_304
/** Values in a policy once aliases are written out, and aliases written out: a few lines of YAML can stand for billions. */
export const POLICY_NODES_MAX = 500_000
export const POLICY_ALIASES_MAX = 10_000
/** Tables over all sets of roles whose rights are kept worked out. */
export const RIGHTS_CACHED_TABLES_MAX = 200_000

export const CONFIG_BYTES_MAX = 1_048_576
export const CONFIG_NODES_MAX = 100_000
export const CONFIG_DEPTH_MAX = 32
export const SECRET_FILE_BYTES_MAX = 65_536
/** How long a password may take to be had, and for how long one that a command printed is used unless the operator says otherwise. */
export const PASSWORD_TIMEOUT_MS = 10_000
export const PASSWORD_TTL_S = 300
export const PASSWORD_TTL_CEILING_S = 86_400
export const COMMAND_WORDS_MAX = 64
/** How far a user may move a limit of `server.limits`, a pool or a thread count. */
export const BODY_BYTES_CEILING = 67_108_864
export const IN_FLIGHT_CEILING = 1_000_000
export const CONNECTIONS_CEILING = 1_000_000
export const THREADS_MIN_DEFAULT = 0
export const THREADS_DEFAULT = 1
export const THREADS_CEILING = 64
export const POOL_CONNECTIONS_CEILING = 1_000
export const POOL_TIME_CEILING_MS = 86_400_000
export const SCHEMAS_CEILING = 100
/** Values that a connector gives its policy, and the text of one. */
export const VARS_MAX = 100
export const VAR_CHARS_MAX = 4_096
/** Files of `connectors_dir`: each is a database of its own. */
export const CONNECTOR_FILES_MAX = 10_000

/** A command may wait for another writer; the serving front thread must not. */
export const ADMIN_COMMAND_BUSY_TIMEOUT_MS = 5_000
export const ADMIN_SERVE_BUSY_TIMEOUT_MS = 100
export const KEYS_CACHED_MAX = 100_000
export const LAST_USED_FLUSH_INTERVAL_MS = 60_000
export const KEY_LIFETIME_DAYS_MAX = 3_650
export const CLAIMS_MAX = 64
export const CLAIM_CHARS_MAX = 4_096
export const CLAIM_LIST_MAX = 1_000

/** How long a key of a writing call is remembered, and how far a user may move that. */
export const IDEMPOTENCY_WINDOW_HOURS = 24
export const IDEMPOTENCY_WINDOW_CEILING_HOURS = 720
/** Longer than any call lives: a call of another gateway that began before that has ended or died with it. */
export const IDEMPOTENCY_CALL_LIFE_MAX_MS = 120_000
/** Outcomes that the admin store could not take, and entries that the trail could not, until they are tried again. */
export const OWED_MAX = 10_000

/** Longest text of one field of an entry, and of its `reason`; a longer one ends in `…`. */
export const AUDIT_TEXT_CHARS_MAX = 256
export const AUDIT_REASON_CHARS_MAX = 1_024
export const AUDIT_ROLES_MAX = 50
/** Filter values of one entry: each, and all together (a full list of digests fits). */
export const AUDIT_VALUE_CHARS_MAX = 1_024
export const AUDIT_VALUES_CHARS_MAX = 40_000
export const AUDIT_LINE_CHARS_MAX = 65_536
/** Records that wait for their acknowledgement; more than the calls that can be in flight. */
export const AUDIT_WAITING_RECORDS_MAX = 16_384
export const AUDIT_PROBE_INTERVAL_MS = 500
/** How long the audit worker may wait for a lock that another program holds on the buffer. */
export const AUDIT_BUSY_TIMEOUT_MS = 2_000
export const AUDIT_FLUSH_TIMEOUT_MS = 3_000
export const AUDIT_STOP_TIMEOUT_MS = 15_000
export const AUDIT_POSITION_INTERVAL_MS = 1_000
export const AUDIT_WAL_BYTES_KEPT_MAX = 67_108_864
export const AUDIT_PROBE_BYTES = 65_536
export const STDOUT_QUEUE_LINES_MAX = 10_000
export const STDOUT_CHUNK_LINES_MAX = 500
export const STDOUT_CHUNK_CHARS_MAX = 262_144
export const STDOUT_RETRY_MIN_MS = 1
export const STDOUT_RETRY_MAX_MS = 50
/** Stdout can be a file on a full disk: that passes, and is tried again at this pace. */
export const STDOUT_FULL_RETRY_MS = 1_000

/** Clients stop listing at 40 to 128 tools over all their servers. */
export const TOOLS_WARNED_ABOVE = 40

/** How often an instance looks whether the admin store changed, where nothing tells it sooner. */
export const STORE_WATCH_INTERVAL_MS = 250
/** How long authentication waits for a store across the network before it refuses. */
export const STORE_READ_TIMEOUT_MS = 2_000
/** How long a file that was put in the place of a store must stay as it is before it counts as whole. */
export const STORE_FILE_SETTLE_MS = 100

/** Largest body of an administrative request: a whole policy, escaped. */
export const ADMIN_BODY_BYTES_MAX = 8_388_608
/** The object around a document, and the document itself. */
export const ADMIN_JSON_DEPTH_MAX = JSON_DEPTH_MAX + 1
/** Longest name, id or other short text of an administrative request; each kind of name has a rule of its own as well. */
export const ADMIN_TEXT_CHARS_MAX = 256

/** Members of `detail` in one entry. */
export const AUDIT_DETAILS_MAX = 20
/** Administrative changes that one look takes into the trail, and when a claim of another instance counts as given up. */
export const PENDING_CHANGES_MAX = 100
export const PENDING_CLAIM_STALE_MS = 60_000
/** How often an instance looks for changes that nobody has taken into a trail. */
export const PENDING_CHANGES_INTERVAL_MS = 1_000
/** How long a change of a store across the network may take, waiting for others included, and its opening with migrations. */
export const STORE_CHANGE_TIMEOUT_MS = 10_000
/** Shorter, so that the server says what a statement waited for. */
export const STORE_STATEMENT_TIMEOUT_MS = 5_000
export const STORE_MIGRATION_TIMEOUT_MS = 60_000
export const STORE_CONNECT_TIMEOUT_MS = 5_000
/** Beside the connection that reads keys and the one that listens. */
export const STORE_CONNECTIONS_MAX = 4
/** Bodies of all requests whose caller is being looked up: as announced, or as large as one may be. */
export const UNIDENTIFIED_BODY_BYTES_MAX = 268_435_456

/** How long a connector may take to say what a policy that is not stored would be there. */
export const JUDGEMENT_TIMEOUT_MS = 60_000
/** Connectors that judge one policy at once. */
export const JUDGEMENTS_AT_ONCE = 8

/** The audit trail's own bounds: what may be configured, and what is assumed. */
export const AUDIT_RETAIN_HOURS = 720
export const AUDIT_RETAIN_CEILING_HOURS = 876_000
export const AUDIT_BUFFER_BYTES_MIN = 4_194_304
/** From this share on health warns; at the second the oldest entries begin to make room, until the third is reached. */
export const AUDIT_FILLING_RATIO = 0.8
export const AUDIT_ROOM_HIGH_RATIO = 0.97
export const AUDIT_ROOM_LOW_RATIO = 0.95
/** What is left free of a full buffer for the outcome of each announced call. */
export const AUDIT_OUTCOME_BYTES = 4_096
/**
 * Space that is held on the disk for outcomes while it is full, of which a small disk gives a part; what one of them needs of it, with
 * the pages that it touches; and below how much free space that is counted at all.
 */
export const AUDIT_RESERVE_BYTES = 8_388_608
export const AUDIT_RESERVE_OF_FREE_RATIO = 0.05
export const AUDIT_RESERVED_OUTCOME_BYTES = 16_384
export const AUDIT_SPACE_LOW_BYTES = 67_108_864
/** What an entry takes beside its line and its id twice. */
export const AUDIT_ENTRY_OVERHEAD_BYTES = 32
/** Of the buffer, for entries of whoever has no identity; and from which part of that on their refusals are folded. */
export const AUDIT_STRANGERS_RATIO = 0.05
export const AUDIT_STRANGERS_FOLD_RATIO = 0.8
/** Deletion goes in steps that no acknowledgement has to wait for: how long one should take, and how many entries it may be. */
export const AUDIT_DELETE_STEP_MS = 5
export const AUDIT_DELETE_STEP_MIN_ROWS = 50
export const AUDIT_DELETE_STEP_MAX_ROWS = 20_000
/** How long an append may delete when there is no room at all. */
export const AUDIT_MAKE_ROOM_MAX_MS = 100
export const AUDIT_UPKEEP_INTERVAL_MS = 1_000
export const AUDIT_NOTE_INTERVAL_MS = 3_600_000
export const AUDIT_HEAD_INTERVAL_MS = 3_600_000
/** Beyond this the WAL is to begin anew, for which the readers of the moment are waited for, so long. */
export const AUDIT_WAL_RESTART_BYTES = 16_777_216
export const AUDIT_WAL_RESTART_TIMEOUT_MS = 20
/** Records that are kept in memory while the trail takes none and calls that read are served. */
export const DEGRADED_RECORDS_MAX = 50_000
export const DEGRADED_CHARS_MAX = 67_108_864
/** Of them, those of whoever has no identity. */
export const DEGRADED_STRANGERS_MAX = 2_500
export const DEGRADED_CHUNK_RECORDS_MAX = 1_000
export const DEGRADED_MARK_INTERVAL_MS = 1_000
/** What the last note of a stopping gateway may take. */
export const DEGRADED_MARK_END_TIMEOUT_MS = 1_000
export const AUDIT_BYTES_CEILING = 17_592_186_044_416
export const AUDIT_FILE_BYTES_MIN = 65_536
export const AUDIT_FILE_BYTES_MAX = 104_857_600
export const AUDIT_FILES_MAX = 10
export const AUDIT_FILES_CEILING = 10_000

/** One batch of the shipper. */
export const SHIP_BATCH_MAX = 1_000
export const SHIP_BATCH_CEILING = 10_000
export const SHIP_INTERVAL_MS = 1_000
export const SHIP_INTERVAL_CEILING_MS = 3_600_000
export const SHIP_TIMEOUT_MS = 10_000
export const SHIP_TIMEOUT_CEILING_MS = 120_000
export const SHIP_HEADERS_MAX = 50
/** Characters of the entries of one batch; what several collectors take in one request is 4 MiB. */
export const SHIP_BATCH_CHARS_MAX = 3_000_000
/** What is read of an answer, and more for each entry where the destination tells of each. */
export const SHIP_ANSWER_BYTES_MAX = 65_536
export const SHIP_ANSWER_ITEM_BYTES_MAX = 2_048
/** Pauses after failures double from the first to the second; a destination may ask for one up to the third. */
export const SHIP_BACKOFF_MIN_MS = 500
export const SHIP_BACKOFF_MAX_MS = 60_000
export const SHIP_RETRY_AFTER_MAX_MS = 300_000
/** How often a header's file is read again, and what it may hold. */
export const SHIP_HEADER_TTL_MS = 60_000
export const SHIP_HEADER_CHARS_MAX = 16_384
/** How often entries that were refused one by one are sent again. */
export const SHIP_REFUSED_RETRY_INTERVAL_MS = 3_600_000
/** The log tells of refused entries no more often. */
export const SHIP_REFUSAL_NOTICE_INTERVAL_MS = 60_000
/** How long the last push may take when the gateway stops, and how long the thread may then take to end. */
export const SHIP_FLUSH_TIMEOUT_MS = 3_000
export const SHIP_END_TIMEOUT_MS = 500
/** Pause before a thread that died is started again, and between two notices of new entries. */
export const SHIP_RESTART_INTERVAL_MS = 2_000
export const SHIP_NOTICE_INTERVAL_MS = 20
/** Failures in a row after which the command that ships a buffer gives up. */
export const SHIP_COMMAND_FAILURES_MAX = 5

/** Reports: how long the index waits for another process that follows the same buffer, and what one look at the buffer reads. */
export const REPORT_INDEX_BUSY_TIMEOUT_MS = 5_000
export const REPORT_CHUNK_CHARS_MAX = 4_194_304
/** Combinations of connector, identity, key, tool, target, decision and code that are told apart. */
export const REPORT_SHAPES_MAX = 100_000
/** Entries or groups on one page of a report, its characters, and the intervals of one summary. */
export const REPORT_PAGE = 100
export const REPORT_PAGE_MAX = 1_000
export const REPORT_CHARS_MAX = 8_388_608
export const REPORT_INTERVALS_MAX = 1_500

/** A write of a sink that takes longer is told as one that fails; it is not given up, since nothing can end it. */
export const SINK_WRITE_TIMEOUT_MS = 10_000
/** How long threads that were told to end may take before the process ends without them. */
export const THREADS_END_TIMEOUT_MS = 2_000
/** How often a file sink looks whether its file still lies at its path, and how much of its end it reads when it opens one. */
export const AUDIT_FILE_LOOK_INTERVAL_MS = 1_000
export const AUDIT_FILE_TAIL_BYTES = 1_048_576
/** How long a report first reads what is new in the buffer, how often that is looked for otherwise, and how long one may take. */
export const REPORT_CATCH_UP_MS = 100
export const REPORT_FOLLOW_INTERVAL_MS = 1_000
export const REPORT_TIMEOUT_MS = 15_000
export const REPORTS_WAITING_MAX = 64
/** The share of a core that reading the buffer takes at most is one part in this many, and one more. */
export const REPORT_FOLLOW_PAUSES = 3
export const REPORT_TROUBLE_RETRY_MS = 5_000
export const REPORT_STOP_TIMEOUT_MS = 2_000

/** A file of entries that is one JSON value is read whole, up to this size; lines have no such bound. */
export const AUDIT_JSON_FILE_BYTES_MAX = 268_435_456
/** Rows of a buffer that one short transaction reads, so that the gateway's log is not held back. */
export const AUDIT_READ_ROWS_MAX = 2_000
/** Of the entries of a buffer that makes room, how many may be there only because a destination refused them. */
export const AUDIT_UNDELIVERED_RATIO = 0.25
/** Things changed beside the chain that have a note each when a buffer is opened; the rest are counted. */
export const AUDIT_TAMPERED_NOTES_MAX = 100
/** Faults of one instance that are listed; the rest are counted. */
export const AUDIT_FAULTS_SHOWN_MAX = 100
/** Entries that one search for a row or a value gives where nothing else is said. */
export const AUDIT_FOUND_ENTRIES = 1_000
export const AUDIT_FOUND_ENTRIES_CEILING = 1_000_000
/** How often "audit tail --follow" looks, how many entries it begins with, and how many it may. */
export const AUDIT_TAIL_INTERVAL_MS = 500
export const AUDIT_TAIL_ENTRIES = 20
export const AUDIT_TAIL_ENTRIES_CEILING = 100_000
