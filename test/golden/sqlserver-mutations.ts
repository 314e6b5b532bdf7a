import type { GoldenMutations } from './postgres-mutations.js'

export const SQLSERVER_MUTATIONS: GoldenMutations = {
  'create with values of every source': {
    write: {
      text: "INSERT INTO [public].[customers]([email], [name], [bio], [created_at], [tenant_id]) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' VALUES (@p1, @p2, NULL, CAST(SUBSTRING(CONVERT(varchar(50), SYSUTCDATETIME(), 126), 1, 27) AS datetimeoffset(7)), CAST(@p3 AS uniqueidentifier))",
      params: ['a@b.c', 'A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'create of defaults alone': {
    write: {
      text: "INSERT INTO [public].[customers] OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), 't' DEFAULT VALUES",
      params: [],
    },
  },
  'create that returns nothing': {
    write: {
      text: "INSERT INTO [public].[customers]([name]) OUTPUT @mark, 't' VALUES (@p1)",
      params: ['A'],
    },
  },
  'create in a scope': {
    write: {
      text: "INSERT INTO [public].[customers]([name]) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN inserted.[tenant_id] = CAST(@p1 AS uniqueidentifier) AND ((inserted.[name] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) OR (inserted.[ssn] IS NULL)) THEN 't' ELSE 'f' END VALUES (@p3)",
      params: ['7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a', 'A'],
    },
  },
  'create in a scope that offers no group': {
    write: {
      text: "INSERT INTO [public].[customers]([name]) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN 1 = 0 THEN 't' ELSE 'f' END VALUES (@p1)",
      params: ['A'],
    },
  },
  'create in a table that does not return what is inserted': {
    write: {
      text: "INSERT INTO [public].[customers]([id], [name]) VALUES (CAST(@p1 AS int), @p2); SELECT TOP (@p3) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[id]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN t.[tenant_id] = CAST(@p4 AS uniqueidentifier) AND ((t.[name] = CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) OR (t.[ssn] IS NULL)) THEN 't' ELSE 'f' END FROM [public].[customers] AS t WHERE t.[id] = CAST(@p6 AS int)",
      params: [
        {
          type: 'integer',
          value: '7',
        },
        'A',
        {
          type: 'integer',
          value: '2',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
        {
          type: 'integer',
          value: '7',
        },
      ],
    },
  },
  'update in no scope': {
    lock: {
      text: "SELECT 't', CASE WHEN (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2 = @p1 AND t.[bio] IS NULL THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [name] = @p1, [bio] = NULL OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update in a scope': {
    lock: {
      text: "SELECT 't', CASE WHEN (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND ((t.[name] = CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) OR (t.[ssn] IS NULL))",
      params: [
        'A.',
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
      ],
    },
    write: {
      text: "UPDATE t SET [name] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN inserted.[tenant_id] = CAST(@p2 AS uniqueidentifier) AND ((inserted.[name] = CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) OR (inserted.[ssn] IS NULL)) THEN 't' ELSE 'f' END FROM [public].[customers] AS t WHERE t.[id] = CAST(@p4 AS int) AND t.[tenant_id] = CAST(@p5 AS uniqueidentifier) AND ((t.[name] = CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) OR (t.[ssn] IS NULL))",
      params: [
        'A',
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
      ],
    },
  },
  'update of a column that the caller may not read': {
    lock: {
      text: "SELECT 't', 'f', CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p1 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [ssn] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update whose written scope is another': {
    lock: {
      text: "SELECT 't', CASE WHEN t.[balance] = CAST(@p1 AS decimal(20, 4)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(varchar(50), t.[balance]) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND t.[created_at] IS NULL",
      params: [
        {
          type: 'decimal',
          value: '1.5000',
        },
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    write: {
      text: "UPDATE t SET [balance] = CAST(@p1 AS decimal(20, 4)) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(varchar(50), inserted.[balance]), CASE WHEN inserted.[tenant_id] = CAST(@p2 AS uniqueidentifier) THEN 't' ELSE 'f' END FROM [public].[customers] AS t WHERE t.[id] = CAST(@p3 AS int) AND t.[tenant_id] = CAST(@p4 AS uniqueidentifier) AND t.[created_at] IS NULL",
      params: [
        {
          type: 'decimal',
          value: '1.5000',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
  },
  'update with expectations': {
    lock: {
      text: "SELECT CASE WHEN t.[name] = CAST(@p1 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[email] = @p2 AND t.[bio] IS NULL AND t.[balance] = CAST(@p3 AS decimal(20, 4)) THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2 = @p4 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p5 AS int)",
      params: [
        'B',
        'x@y.z',
        {
          type: 'decimal',
          value: '2.0000',
        },
        'A.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [name] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update that stamps the time': {
    lock: {
      text: "SELECT 't', 'f', CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p1 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [name] = @p1, [created_at] = CAST(SUBSTRING(CONVERT(varchar(50), SYSUTCDATETIME(), 126), 1, 27) AS datetimeoffset(7)) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of the key': {
    lock: {
      text: "SELECT 't', CASE WHEN t.[id] = CAST(@p1 AS int) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '2',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [id] = CAST(@p1 AS int) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '2',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of a unique column': {
    lock: {
      text: "SELECT 't', CASE WHEN (CONVERT(nvarchar(max), t.[email]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, t.[email] FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'x@y.z.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [email] = @p1 OUTPUT @mark, inserted.[email], 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'x@y.z',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update by a key that the policy alone warrants': {
    lock: {
      text: "SELECT TOP (@p1) 't', CASE WHEN (CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[name] = CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))",
      params: [
        {
          type: 'integer',
          value: '6',
        },
        'x.',
        'A',
      ],
    },
    write: {
      text: "UPDATE t SET [bio] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[name] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))",
      params: ['x', 'A'],
    },
  },
  'dry run of an update': {
    lock: {
      text: "SELECT 't', CASE WHEN (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [name] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'A',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'soft delete with a time': {
    lock: {
      text: "SELECT 't', 'f', CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p1 AS int) AND t.[tenant_id] = CAST(@p2 AS uniqueidentifier) AND t.[created_at] IS NULL",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    write: {
      text: "UPDATE t SET [created_at] = CAST(SUBSTRING(CONVERT(varchar(50), SYSUTCDATETIME(), 126), 1, 27) AS datetimeoffset(7)) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(nvarchar(max), inserted.[name]), LEFT(CONVERT(nvarchar(max), inserted.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN inserted.[tenant_id] = CAST(@p1 AS uniqueidentifier) THEN 't' ELSE 'f' END FROM [public].[customers] AS t WHERE t.[id] = CAST(@p2 AS int) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND t.[created_at] IS NULL",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        {
          type: 'integer',
          value: '1',
        },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
  },
  'soft delete with a flag': {
    lock: {
      text: "SELECT 't', CASE WHEN t.[deleted] = CAST(@p1 AS bit) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[id]), CONVERT(varchar(50), t.[deleted]) FROM [public].[flagged] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p2 AS int) AND t.[deleted] = CAST(@p3 AS bit)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '0',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [deleted] = CAST(@p1 AS bit) OUTPUT @mark, CONVERT(varchar(50), inserted.[id]), CONVERT(varchar(50), inserted.[deleted]), 't' FROM [public].[flagged] AS t WHERE t.[id] = CAST(@p2 AS int) AND t.[deleted] = CAST(@p3 AS bit)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '0',
        },
      ],
    },
  },
  'update by a composite key': {
    lock: {
      text: "SELECT 't', CASE WHEN (CONVERT(nvarchar(max), t.[note]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]), CONVERT(varchar(50), t.[quantity]), LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[order_lines] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint)",
      params: [
        'n.',
        {
          type: 'integer',
          value: '9',
        },
        {
          type: 'integer',
          value: '2',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [note] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[order_id]), CONVERT(varchar(50), inserted.[line]), CONVERT(varchar(50), inserted.[quantity]), LEFT(CONVERT(nvarchar(max), inserted.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), 't' FROM [public].[order_lines] AS t WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint)",
      params: [
        'n',
        {
          type: 'integer',
          value: '9',
        },
        {
          type: 'integer',
          value: '2',
        },
      ],
    },
  },
  'update of tinyint': {
    lock: {
      text: "SELECT CASE WHEN t.[c_tinyint] = CAST(@p1 AS tinyint) THEN 't' ELSE 'f' END, CASE WHEN t.[c_tinyint] = CAST(@p2 AS tinyint) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_tinyint]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_tinyint] = CAST(@p1 AS tinyint) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_tinyint]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of smallint': {
    lock: {
      text: "SELECT CASE WHEN t.[c_smallint] = CAST(@p1 AS smallint) THEN 't' ELSE 'f' END, CASE WHEN t.[c_smallint] = CAST(@p2 AS smallint) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_smallint]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_smallint] = CAST(@p1 AS smallint) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_smallint]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of int': {
    lock: {
      text: "SELECT CASE WHEN t.[c_int] = CAST(@p1 AS int) THEN 't' ELSE 'f' END, CASE WHEN t.[c_int] = CAST(@p2 AS int) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_int]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_int] = CAST(@p1 AS int) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_int]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of bigint': {
    lock: {
      text: "SELECT CASE WHEN t.[c_bigint] = @p1 THEN 't' ELSE 'f' END, CASE WHEN t.[c_bigint] = @p2 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_bigint]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_bigint] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[c_bigint]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of bit': {
    lock: {
      text: "SELECT CASE WHEN t.[c_bit] = CAST(@p1 AS bit) THEN 't' ELSE 'f' END, CASE WHEN t.[c_bit] = CAST(@p2 AS bit) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_bit]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_bit] = CAST(@p1 AS bit) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_bit]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'integer',
          value: '1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of decimal': {
    lock: {
      text: "SELECT CASE WHEN t.[c_decimal] = CAST(@p1 AS decimal(20, 4)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_decimal] = CAST(@p2 AS decimal(20, 4)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_decimal]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.5000',
        },
        {
          type: 'decimal',
          value: '1.5000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_decimal] = CAST(@p1 AS decimal(20, 4)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_decimal]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.5000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of numeric': {
    lock: {
      text: "SELECT CASE WHEN t.[c_numeric] = CAST(@p1 AS decimal(38, 0)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_numeric] = CAST(@p2 AS decimal(38, 0)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_numeric]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'decimal',
          value: '-1',
        },
        {
          type: 'decimal',
          value: '-1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_numeric] = CAST(@p1 AS decimal(38, 0)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_numeric]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'decimal',
          value: '-1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of money': {
    lock: {
      text: "SELECT CASE WHEN t.[c_money] = CAST(@p1 AS money) THEN 't' ELSE 'f' END, CASE WHEN t.[c_money] = CAST(@p2 AS money) THEN 't' ELSE 'f' END, CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_money])) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_money] = CAST(@p1 AS money) OUTPUT @mark, CONVERT(varchar(50), CONVERT(decimal(19, 4), inserted.[c_money])), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of smallmoney': {
    lock: {
      text: "SELECT CASE WHEN t.[c_smallmoney] = CAST(@p1 AS smallmoney) THEN 't' ELSE 'f' END, CASE WHEN t.[c_smallmoney] = CAST(@p2 AS smallmoney) THEN 't' ELSE 'f' END, CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_smallmoney])) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_smallmoney] = CAST(@p1 AS smallmoney) OUTPUT @mark, CONVERT(varchar(50), CONVERT(decimal(19, 4), inserted.[c_smallmoney])), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'decimal',
          value: '1.0000',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of float': {
    lock: {
      text: "SELECT CASE WHEN t.[c_float] = @p1 THEN 't' ELSE 'f' END, CASE WHEN t.[c_float] = @p2 THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_float], 3) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'float',
          value: '0.1',
        },
        {
          type: 'float',
          value: '0.1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_float] = @p1 OUTPUT @mark, CONVERT(varchar(50), inserted.[c_float], 3), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'float',
          value: '0.1',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of real': {
    lock: {
      text: "SELECT CASE WHEN t.[c_real] = CAST(@p1 AS real) THEN 't' ELSE 'f' END, CASE WHEN t.[c_real] = CAST(@p2 AS real) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_real], 3) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'float',
          value: '0.10000000149011612',
        },
        {
          type: 'float',
          value: '0.10000000149011612',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_real] = CAST(@p1 AS real) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_real], 3), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'float',
          value: '0.10000000149011612',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of folded': {
    lock: {
      text: "SELECT CASE WHEN t.[c_folded] = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_folded]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_folded]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_folded] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_folded]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of exact': {
    lock: {
      text: "SELECT CASE WHEN t.[c_exact] = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_exact]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_exact]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_exact] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_exact]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of fixed': {
    lock: {
      text: "SELECT CASE WHEN t.[c_fixed] = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_fixed]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, t.[c_fixed] FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_fixed] = @p1 OUTPUT @mark, inserted.[c_fixed], 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of long': {
    lock: {
      text: "SELECT CASE WHEN t.[c_long] = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_long]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_long]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_long] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_long]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of latin1': {
    lock: {
      text: "SELECT CASE WHEN t.[c_latin1] = CAST(@p1 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_latin1]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_latin1]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '€',
        '€.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_latin1] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_latin1]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '€',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of greek': {
    lock: {
      text: "SELECT CASE WHEN t.[c_greek] = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_greek]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_greek]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        'ά',
        'ά.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_greek] = CASE WHEN CONVERT(varbinary(max), CONVERT(nvarchar(max), CONVERT(varchar(max), @p1 COLLATE Greek_CS_AS))) = CONVERT(varbinary(max), CONVERT(nvarchar(max), @p1)) THEN CONVERT(nvarchar(max), @p1) ELSE CONVERT(nvarchar(max), CONVERT(int, N'not of the code page')) END OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_greek]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'ά',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of utf8': {
    lock: {
      text: "SELECT CASE WHEN t.[c_utf8] = CAST(@p1 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_utf8]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_utf8]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '😀',
        '😀.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_utf8] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_utf8]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '😀',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of fixedLatin1': {
    lock: {
      text: "SELECT CASE WHEN t.[c_fixedLatin1] = CAST(@p1 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_fixedLatin1]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, CONVERT(nvarchar(max), t.[c_fixedLatin1]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_fixedLatin1] = @p1 OUTPUT @mark, CONVERT(nvarchar(max), inserted.[c_fixedLatin1]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of longLatin1': {
    lock: {
      text: "SELECT CASE WHEN t.[c_longLatin1] = CAST(@p1 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_longLatin1]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_longLatin1]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_longLatin1] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_longLatin1]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of legacyText': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_legacyText]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1.',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_legacyText] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_legacyText]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of legacyNtext': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_legacyNtext]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1.',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_legacyNtext] = @p1 OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_legacyNtext]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of date': {
    lock: {
      text: "SELECT CASE WHEN t.[c_date] = CAST(@p1 AS date) THEN 't' ELSE 'f' END, CASE WHEN t.[c_date] = CAST(@p2 AS date) THEN 't' ELSE 'f' END, CONVERT(varchar(10), t.[c_date], 23) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29',
        '2024-02-29',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_date] = CAST(@p1 AS date) OUTPUT @mark, CONVERT(varchar(10), inserted.[c_date], 23), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of time': {
    lock: {
      text: "SELECT CASE WHEN t.[c_time] = CAST(@p1 AS time(7)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_time] = CAST(@p2 AS time(7)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_time], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '10:00:00.1234567',
        '10:00:00.1234567',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_time] = CAST(@p1 AS time(7)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_time], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '10:00:00.1234567',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of time0': {
    lock: {
      text: "SELECT CASE WHEN t.[c_time0] = CAST(@p1 AS time(0)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_time0] = CAST(@p2 AS time(0)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_time0], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '10:00:00',
        '10:00:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_time0] = CAST(@p1 AS time(0)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_time0], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '10:00:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of datetime2': {
    lock: {
      text: "SELECT CASE WHEN t.[c_datetime2] = CAST(@p1 AS datetime2(7)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_datetime2] = CAST(@p2 AS datetime2(7)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_datetime2], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T10:00:00.1234567',
        '2024-02-29T10:00:00.1234567',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_datetime2] = CAST(@p1 AS datetime2(7)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_datetime2], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T10:00:00.1234567',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of datetime2of3': {
    lock: {
      text: "SELECT CASE WHEN t.[c_datetime2of3] = CAST(@p1 AS datetime2(3)) THEN 't' ELSE 'f' END, CASE WHEN t.[c_datetime2of3] = CAST(@p2 AS datetime2(3)) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_datetime2of3], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T10:00:00.123',
        '2024-02-29T10:00:00.123',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_datetime2of3] = CAST(@p1 AS datetime2(3)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_datetime2of3], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T10:00:00.123',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of datetime': {
    lock: {
      text: "SELECT CASE WHEN t.[c_datetime] = CAST(@p1 AS datetime) THEN 't' ELSE 'f' END, CASE WHEN t.[c_datetime] = CAST(@p2 AS datetime) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_datetime], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T10:00:00.003',
        '2024-02-29T10:00:00.003',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_datetime] = CAST(@p1 AS datetime) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_datetime], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T10:00:00.003',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of smalldatetime': {
    lock: {
      text: "SELECT CASE WHEN t.[c_smalldatetime] = CAST(@p1 AS smalldatetime) THEN 't' ELSE 'f' END, CASE WHEN t.[c_smalldatetime] = CAST(@p2 AS smalldatetime) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_smalldatetime], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T10:00:00',
        '2024-02-29T10:00:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_smalldatetime] = CAST(@p1 AS smalldatetime) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_smalldatetime], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T10:00:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of datetimeoffset': {
    lock: {
      text: "SELECT CASE WHEN t.[c_datetimeoffset] = CAST(@p1 AS datetimeoffset(7)) THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varchar(50), t.[c_datetimeoffset], 121) = CONVERT(varchar(50), CAST(@p2 AS datetimeoffset(7)), 121) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_datetimeoffset], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T00:30:00.5+02:00',
        '2024-02-29T00:30:00.5+02:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_datetimeoffset] = CAST(@p1 AS datetimeoffset(7)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_datetimeoffset], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T00:30:00.5+02:00',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of datetimeoffset0': {
    lock: {
      text: "SELECT CASE WHEN t.[c_datetimeoffset0] = CAST(@p1 AS datetimeoffset(0)) THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varchar(50), t.[c_datetimeoffset0], 121) = CONVERT(varchar(50), CAST(@p2 AS datetimeoffset(0)), 121) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_datetimeoffset0], 121) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '2024-02-29T00:30:00Z',
        '2024-02-29T00:30:00Z',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_datetimeoffset0] = CAST(@p1 AS datetimeoffset(0)) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_datetimeoffset0], 121), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '2024-02-29T00:30:00Z',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of uniqueidentifier': {
    lock: {
      text: "SELECT CASE WHEN t.[c_uniqueidentifier] = CAST(@p1 AS uniqueidentifier) THEN 't' ELSE 'f' END, CASE WHEN t.[c_uniqueidentifier] = CAST(@p2 AS uniqueidentifier) THEN 't' ELSE 'f' END, CONVERT(varchar(50), t.[c_uniqueidentifier]) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_uniqueidentifier] = CAST(@p1 AS uniqueidentifier) OUTPUT @mark, CONVERT(varchar(50), inserted.[c_uniqueidentifier]), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of binary': {
    lock: {
      text: "SELECT CASE WHEN t.[c_binary] = @p1 THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varbinary(max), t.[c_binary]) = @p2 AND DATALENGTH(t.[c_binary]) = DATALENGTH(@p2) THEN 't' ELSE 'f' END, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_binary]), 1, 17), 2) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/AA==',
        },
        {
          type: 'bytes',
          value: 'AAH/AA==',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_binary] = @p1 OUTPUT @mark, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), inserted.[c_binary]), 1, 17), 2), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/AA==',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of varbinary': {
    lock: {
      text: "SELECT CASE WHEN t.[c_varbinary] = @p1 THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varbinary(max), t.[c_varbinary]) = @p2 AND DATALENGTH(t.[c_varbinary]) = DATALENGTH(@p2) THEN 't' ELSE 'f' END, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_varbinary]), 1, 17), 2) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_varbinary] = @p1 OUTPUT @mark, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), inserted.[c_varbinary]), 1, 17), 2), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of longBinary': {
    lock: {
      text: "SELECT CASE WHEN t.[c_longBinary] = @p1 THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varbinary(max), t.[c_longBinary]) = @p2 AND DATALENGTH(t.[c_longBinary]) = DATALENGTH(@p2) THEN 't' ELSE 'f' END, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_longBinary]), 1, 17), 2) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_longBinary] = @p1 OUTPUT @mark, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), inserted.[c_longBinary]), 1, 17), 2), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of image': {
    lock: {
      text: "SELECT CASE WHEN CONVERT(varbinary(max), t.[c_image]) = @p1 AND DATALENGTH(t.[c_image]) = DATALENGTH(@p1) THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varbinary(max), t.[c_image]) = @p2 AND DATALENGTH(t.[c_image]) = DATALENGTH(@p2) THEN 't' ELSE 'f' END, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_image]), 1, 17), 2) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_image] = @p1 OUTPUT @mark, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), inserted.[c_image]), 1, 17), 2), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAH/',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of rowversion': {
    lock: {
      text: "SELECT CASE WHEN t.[c_rowversion] = @p1 THEN 't' ELSE 'f' END, CASE WHEN CONVERT(varbinary(max), t.[c_rowversion]) = @p2 AND DATALENGTH(t.[c_rowversion]) = DATALENGTH(@p2) THEN 't' ELSE 'f' END, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_rowversion]), 1, 17), 2) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAAAAAAAB9E=',
        },
        {
          type: 'bytes',
          value: 'AAAAAAAAB9E=',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_rowversion] = @p1 OUTPUT @mark, CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), inserted.[c_rowversion]), 1, 17), 2), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        {
          type: 'bytes',
          value: 'AAAAAAAAB9E=',
        },
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of xml': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_xml]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '<a/>.',
        '<a/>.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_xml] = CAST(@p1 AS xml) OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_xml]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '<a/>',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of json': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_json]) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '{"a":1}.',
        '{"a":1}.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_json] = CAST(@p1 AS json) OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_json]) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '{"a":1}',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of variant': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '1.',
        '1.',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_variant] = CAST(@p1 AS sql_variant) OUTPUT @mark, LEFT(CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(inserted.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, inserted.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, inserted.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), inserted.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, inserted.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, inserted.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), inserted.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, inserted.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, inserted.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), inserted.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), inserted.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), inserted.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), inserted.[c_variant]), 1) ELSE CONVERT(nvarchar(max), inserted.[c_variant]) END) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '1',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of hierarchyid': {
    lock: {
      text: "SELECT CASE WHEN t.[c_hierarchyid] = CAST(@p1 AS hierarchyid) THEN 't' ELSE 'f' END, CASE WHEN t.[c_hierarchyid] = CAST(@p2 AS hierarchyid) THEN 't' ELSE 'f' END, t.[c_hierarchyid].ToString() FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        '/1/',
        '/1/',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_hierarchyid] = CAST(@p1 AS hierarchyid) OUTPUT @mark, inserted.[c_hierarchyid].ToString(), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        '/1/',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of geometry': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_geometry].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        'POINT (1 2).',
        'POINT (1 2).',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_geometry] = CAST(@p1 AS geometry) OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_geometry].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'POINT (1 2)',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'update of geography': {
    lock: {
      text: "SELECT CASE WHEN (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p1 THEN 't' ELSE 'f' END, CASE WHEN (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p2 THEN 't' ELSE 'f' END, LEFT(CONVERT(nvarchar(max), t.[c_geography].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[id] = CAST(@p3 AS int)",
      params: [
        'POINT (1 2).',
        'POINT (1 2).',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
    write: {
      text: "UPDATE t SET [c_geography] = CAST(@p1 AS geography) OUTPUT @mark, LEFT(CONVERT(nvarchar(max), inserted.[c_geography].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17), 't' FROM [public].[samples] AS t WHERE t.[id] = CAST(@p2 AS int)",
      params: [
        'POINT (1 2)',
        {
          type: 'integer',
          value: '1',
        },
      ],
    },
  },
  'create with a parent': {
    write: {
      text: "INSERT INTO [public].[order_lines]([order_id], [line], [quantity]) VALUES (@p1, CAST(@p2 AS smallint), CAST(@p3 AS int)); SELECT TOP (@p4) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[order_id]), LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p5 AS uniqueidentifier)) THEN 't' ELSE 'f' END FROM [public].[order_lines] AS t WHERE t.[order_id] = @p6 AND t.[line] = CAST(@p7 AS smallint)",
      params: [
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '4' },
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update with a parent': {
    lock: {
      text: "SELECT CASE WHEN t.[note] = @p1 THEN 't' ELSE 'f' END, 'f', CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint) AND EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p4 AS uniqueidentifier))",
      params: [
        'n',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    write: {
      text: "UPDATE t SET [quantity] = CAST(@p1 AS int) FROM [public].[order_lines] AS t WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint) AND EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p4 AS uniqueidentifier)); SELECT TOP (@p5) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[line]), CASE WHEN EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p6 AS uniqueidentifier)) THEN 't' ELSE 'f' END FROM [public].[order_lines] AS t WHERE t.[order_id] = @p7 AND t.[line] = CAST(@p8 AS smallint)",
      params: [
        { type: 'integer', value: '4' },
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'create with parents of parents': {
    write: {
      text: "INSERT INTO [public].[order_lines]([order_id], [line], [quantity]) VALUES (@p1, CAST(@p2 AS smallint), CAST(@p3 AS int)); SELECT TOP (@p4) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[order_id]), LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CASE WHEN t.[quantity] > CAST(@p5 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p6 AS bit)) AND ((p1.[name] = CAST(@p7 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL)) THEN 't' ELSE 'f' END FROM [public].[order_lines] AS t WHERE t.[order_id] = @p8 AND t.[line] = CAST(@p9 AS smallint)",
      params: [
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '4' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update with parents of parents': {
    lock: {
      text: "SELECT CASE WHEN t.[note] = @p1 THEN 't' ELSE 'f' END, 'f', CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WITH (UPDLOCK, ROWLOCK) WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint) AND t.[quantity] > CAST(@p4 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p5 AS bit)) AND ((p1.[name] = CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL))",
      params: [
        'n',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
      ],
    },
    write: {
      text: "UPDATE t SET [quantity] = CAST(@p1 AS int) FROM [public].[order_lines] AS t WHERE t.[order_id] = @p2 AND t.[line] = CAST(@p3 AS smallint) AND t.[quantity] > CAST(@p4 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p5 AS bit)) AND ((p1.[name] = CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL)); SELECT TOP (@p7) @mark, @@ROWCOUNT, CONVERT(varchar(50), t.[line]), CASE WHEN t.[quantity] > CAST(@p8 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p9 AS bit)) AND ((p1.[name] = CAST(@p10 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL)) THEN 't' ELSE 'f' END FROM [public].[order_lines] AS t WHERE t.[order_id] = @p11 AND t.[line] = CAST(@p12 AS smallint)",
      params: [
        { type: 'integer', value: '4' },
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
      ],
    },
  },
}
