import type { Golden } from './postgres.js'

export const SQLSERVER: Golden = {
  'get with no scope': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int)',
    params: [
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search with no scope': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
    ],
  },
  'aggregate with no scope': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
    ],
  },
  'get with scope all': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int) AND t.[tenant_id] = CAST(@p2 AS uniqueidentifier) AND t.[ssn] IS NOT NULL',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
    ],
  },
  'search with scope all': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND t.[ssn] IS NOT NULL ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
    ],
  },
  'aggregate with scope all': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND t.[ssn] IS NOT NULL',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
    ],
  },
  'get with scope any': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int) AND ((t.[name] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int)) OR (t.[ssn] IS NULL))',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      'a',
      {
        type: 'integer',
        value: '5',
      },
    ],
  },
  'search with scope any': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND ((t.[name] = CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p4 AS int)) OR (t.[ssn] IS NULL)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      'a',
      {
        type: 'integer',
        value: '5',
      },
    ],
  },
  'aggregate with scope any': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND ((t.[name] = CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p4 AS int)) OR (t.[ssn] IS NULL))',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      'a',
      {
        type: 'integer',
        value: '5',
      },
    ],
  },
  'get with scope all and any': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int) AND t.[tenant_id] = CAST(@p2 AS uniqueidentifier) AND ((t.[name] IN (CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)), CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)))))',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      'a',
      'b',
    ],
  },
  'search with scope all and any': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND ((t.[name] IN (CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)), CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))))) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      'a',
      'b',
    ],
  },
  'aggregate with scope all and any': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) AND ((t.[name] IN (CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)), CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)))))',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      'a',
      'b',
    ],
  },
  'get with scope any without a group': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int) AND 1 = 0',
    params: [
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search with scope any without a group': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND 1 = 0 ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
    ],
  },
  'aggregate with scope any without a group': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND 1 = 0',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
    ],
  },
  'get with scope any with a group that is always true': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t WHERE t.[id] = CAST(@p1 AS int) AND (1 = 1 OR (t.[id] = CAST(@p2 AS int)))',
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
  'search with scope any with a group that is always true': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(nvarchar(max), t.[name]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND (1 = 1 OR (t.[id] = CAST(@p3 AS int))) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'aggregate with scope any with a group that is always true': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND (1 = 1 OR (t.[id] = CAST(@p3 AS int)))',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'x',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter eq': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter eq': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter neq': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter neq': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter in': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] IN (CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)), CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      'b',
    ],
  },
  'aggregate filter in': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] IN (CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)), CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) AND t.[id] > CAST(@p4 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      'b',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter gt': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] > CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter gt': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] > CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter gte': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] >= CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter gte': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] >= CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter lt': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] < CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter lt': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] < CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter lte': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] <= CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter lte': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] <= CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter ilike': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] LIKE @p2 ESCAPE N'\\' ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
    ],
  },
  'aggregate filter ilike': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] LIKE @p2 ESCAPE N'\\' AND t.[id] > CAST(@p3 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'a',
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter is_null': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] IS NULL ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate filter is_null': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] IS NULL AND t.[id] > CAST(@p2 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter not_null': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[name] IS NOT NULL ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate filter not_null': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t WHERE t.[name] IS NOT NULL AND t.[id] > CAST(@p2 AS int) GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'integer',
        value: '1',
      },
    ],
  },
  'search filter in without values': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE 1 = 0 ORDER BY t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search every op on tinyint': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_tinyint]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_tinyint] = CAST(@p2 AS tinyint) AND t.[c_tinyint] <> CAST(@p3 AS tinyint) AND t.[c_tinyint] IN (CAST(@p4 AS tinyint)) AND t.[c_tinyint] > CAST(@p5 AS tinyint) AND t.[c_tinyint] >= CAST(@p6 AS tinyint) AND t.[c_tinyint] < CAST(@p7 AS tinyint) AND t.[c_tinyint] <= CAST(@p8 AS tinyint) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_tinyint])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_tinyint] IS NULL AND t.[c_tinyint] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
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
      {
        type: 'integer',
        value: '1',
      },
      '1',
    ],
  },
  'search every op on smallint': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_smallint]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_smallint] = CAST(@p2 AS smallint) AND t.[c_smallint] <> CAST(@p3 AS smallint) AND t.[c_smallint] IN (CAST(@p4 AS smallint)) AND t.[c_smallint] > CAST(@p5 AS smallint) AND t.[c_smallint] >= CAST(@p6 AS smallint) AND t.[c_smallint] < CAST(@p7 AS smallint) AND t.[c_smallint] <= CAST(@p8 AS smallint) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_smallint])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_smallint] IS NULL AND t.[c_smallint] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
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
      {
        type: 'integer',
        value: '1',
      },
      '1',
    ],
  },
  'search every op on int': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_int]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_int] = CAST(@p2 AS int) AND t.[c_int] <> CAST(@p3 AS int) AND t.[c_int] IN (CAST(@p4 AS int)) AND t.[c_int] > CAST(@p5 AS int) AND t.[c_int] >= CAST(@p6 AS int) AND t.[c_int] < CAST(@p7 AS int) AND t.[c_int] <= CAST(@p8 AS int) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_int])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_int] IS NULL AND t.[c_int] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
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
      {
        type: 'integer',
        value: '1',
      },
      '1',
    ],
  },
  'search every op on bigint': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_bigint]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_bigint] = @p2 AND t.[c_bigint] <> @p3 AND t.[c_bigint] IN (@p4) AND t.[c_bigint] > @p5 AND t.[c_bigint] >= @p6 AND t.[c_bigint] < @p7 AND t.[c_bigint] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_bigint])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_bigint] IS NULL AND t.[c_bigint] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
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
      {
        type: 'integer',
        value: '1',
      },
      '1',
    ],
  },
  'search every op on bit': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_bit]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_bit] = CAST(@p2 AS bit) AND t.[c_bit] <> CAST(@p3 AS bit) AND t.[c_bit] IN (CAST(@p4 AS bit)) AND t.[c_bit] > CAST(@p5 AS bit) AND t.[c_bit] >= CAST(@p6 AS bit) AND t.[c_bit] < CAST(@p7 AS bit) AND t.[c_bit] <= CAST(@p8 AS bit) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_bit])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_bit] IS NULL AND t.[c_bit] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
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
      {
        type: 'integer',
        value: '1',
      },
      'true',
    ],
  },
  'search every op on decimal': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_decimal]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_decimal] = CAST(@p2 AS decimal(20, 4)) AND t.[c_decimal] <> CAST(@p3 AS decimal(20, 4)) AND t.[c_decimal] IN (CAST(@p4 AS decimal(20, 4))) AND t.[c_decimal] > CAST(@p5 AS decimal(20, 4)) AND t.[c_decimal] >= CAST(@p6 AS decimal(20, 4)) AND t.[c_decimal] < CAST(@p7 AS decimal(20, 4)) AND t.[c_decimal] <= CAST(@p8 AS decimal(20, 4)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_decimal])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_decimal] IS NULL AND t.[c_decimal] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      '1.5',
    ],
  },
  'search every op on numeric': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_numeric]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE 1 = 0 AND t.[c_numeric] IS NOT NULL AND 1 = 0 AND t.[c_numeric] > CAST(@p2 AS decimal(38, 0)) AND t.[c_numeric] > CAST(@p3 AS decimal(38, 0)) AND t.[c_numeric] <= CAST(@p4 AS decimal(38, 0)) AND t.[c_numeric] <= CAST(@p5 AS decimal(38, 0)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_numeric])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p6 ESCAPE N'\\' AND t.[c_numeric] IS NULL AND t.[c_numeric] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'decimal',
        value: '-2',
      },
      {
        type: 'decimal',
        value: '-2',
      },
      {
        type: 'decimal',
        value: '-2',
      },
      {
        type: 'decimal',
        value: '-2',
      },
      '-1.5',
    ],
  },
  'search every op on money': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_money])), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_money] = CAST(@p2 AS money) AND t.[c_money] <> CAST(@p3 AS money) AND t.[c_money] IN (CAST(@p4 AS money)) AND t.[c_money] > CAST(@p5 AS money) AND t.[c_money] >= CAST(@p6 AS money) AND t.[c_money] < CAST(@p7 AS money) AND t.[c_money] <= CAST(@p8 AS money) AND CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_money]))) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_money] IS NULL AND t.[c_money] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      {
        type: 'decimal',
        value: '1.0000',
      },
      '1',
    ],
  },
  'search every op on smallmoney': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_smallmoney])), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE 1 = 0 AND t.[c_smallmoney] IS NOT NULL AND 1 = 0 AND 1 = 0 AND 1 = 0 AND t.[c_smallmoney] IS NOT NULL AND t.[c_smallmoney] IS NOT NULL AND CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_smallmoney]))) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p2 ESCAPE N'\\' AND t.[c_smallmoney] IS NULL AND t.[c_smallmoney] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1000000',
    ],
  },
  'search every op on float': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_float], 3), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_float] = @p2 AND t.[c_float] <> @p3 AND t.[c_float] IN (@p4) AND t.[c_float] > @p5 AND t.[c_float] >= @p6 AND t.[c_float] < @p7 AND t.[c_float] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_float], 3)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_float] IS NULL AND t.[c_float] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      {
        type: 'float',
        value: '0.1',
      },
      '0.1',
    ],
  },
  'search every op on real': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_real], 3), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_real] = CAST(@p2 AS real) AND t.[c_real] <> CAST(@p3 AS real) AND t.[c_real] IN (CAST(@p4 AS real)) AND t.[c_real] > CAST(@p5 AS real) AND t.[c_real] >= CAST(@p6 AS real) AND t.[c_real] < CAST(@p7 AS real) AND t.[c_real] <= CAST(@p8 AS real) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_real], 3)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_real] IS NULL AND t.[c_real] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      '0.1',
    ],
  },
  'search every op on folded': {
    text: "SELECT TOP (@p1) t.[c_folded], CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_folded] = @p2 AND t.[c_folded] <> @p3 AND t.[c_folded] IN (@p4) AND t.[c_folded] > @p5 AND t.[c_folded] >= @p6 AND t.[c_folded] < @p7 AND t.[c_folded] <= @p8 AND t.[c_folded] LIKE @p9 ESCAPE N'\\' AND t.[c_folded] IS NULL AND t.[c_folded] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on exact': {
    text: "SELECT TOP (@p1) t.[c_exact], CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_exact] = @p2 AND t.[c_exact] <> @p3 AND t.[c_exact] IN (@p4) AND t.[c_exact] > @p5 AND t.[c_exact] >= @p6 AND t.[c_exact] < @p7 AND t.[c_exact] <= @p8 AND CONVERT(nvarchar(max), t.[c_exact]) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_exact] IS NULL AND t.[c_exact] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on fixed': {
    text: "SELECT TOP (@p1) t.[c_fixed], CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_fixed] = @p2 AND t.[c_fixed] <> @p3 AND t.[c_fixed] IN (@p4) AND t.[c_fixed] > @p5 AND t.[c_fixed] >= @p6 AND t.[c_fixed] < @p7 AND t.[c_fixed] <= @p8 AND t.[c_fixed] LIKE @p9 ESCAPE N'\\' AND t.[c_fixed] IS NULL AND t.[c_fixed] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on long': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_long]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_long] = @p2 AND t.[c_long] <> @p3 AND t.[c_long] IN (@p4) AND t.[c_long] > @p5 AND t.[c_long] >= @p6 AND t.[c_long] < @p7 AND t.[c_long] <= @p8 AND t.[c_long] LIKE @p9 ESCAPE N'\\' AND t.[c_long] IS NULL AND t.[c_long] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on latin1': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[c_latin1]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_latin1] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] <> CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] IN (CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) AND t.[c_latin1] > CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] >= CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] < CAST(@p7 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] <= CAST(@p8 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_latin1] LIKE @p9 ESCAPE N'\\' AND t.[c_latin1] IS NULL AND t.[c_latin1] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '€',
      '€',
      '€',
      '€',
      '€',
      '€',
      '€',
      '€',
    ],
  },
  'search every op on greek': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[c_greek]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_greek] = @p2 AND t.[c_greek] <> @p3 AND t.[c_greek] IN (@p4) AND t.[c_greek] > @p5 AND t.[c_greek] >= @p6 AND t.[c_greek] < @p7 AND t.[c_greek] <= @p8 AND CONVERT(nvarchar(max), t.[c_greek]) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_greek] IS NULL AND t.[c_greek] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'ά',
      'ά',
      'ά',
      'ά',
      'ά',
      'ά',
      'ά',
      'ά',
    ],
  },
  'search every op on utf8': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[c_utf8]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_utf8] = CAST(@p2 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] <> CAST(@p3 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] IN (CAST(@p4 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000))) AND t.[c_utf8] > CAST(@p5 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] >= CAST(@p6 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] < CAST(@p7 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] <= CAST(@p8 COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(8000)) AND t.[c_utf8] LIKE @p9 ESCAPE N'\\' AND t.[c_utf8] IS NULL AND t.[c_utf8] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '😀',
      '😀',
      '😀',
      '😀',
      '😀',
      '😀',
      '😀',
      '😀',
    ],
  },
  'search every op on fixedLatin1': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[c_fixedLatin1]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_fixedLatin1] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] <> CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] IN (CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) AND t.[c_fixedLatin1] > CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] >= CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] < CAST(@p7 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] <= CAST(@p8 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_fixedLatin1] LIKE @p9 ESCAPE N'\\' AND t.[c_fixedLatin1] IS NULL AND t.[c_fixedLatin1] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on longLatin1': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_longLatin1]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_longLatin1] = CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] <> CAST(@p3 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] IN (CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000))) AND t.[c_longLatin1] > CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] >= CAST(@p6 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] < CAST(@p7 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] <= CAST(@p8 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND t.[c_longLatin1] LIKE @p9 ESCAPE N'\\' AND t.[c_longLatin1] IS NULL AND t.[c_longLatin1] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
      '1',
    ],
  },
  'search every op on legacyText': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_legacyText]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_legacyText]) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND t.[c_legacyText] LIKE @p9 ESCAPE N'\\' AND t.[c_legacyText] IS NULL AND t.[c_legacyText] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1',
    ],
  },
  'search every op on legacyNtext': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_legacyNtext]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_legacyNtext]) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND t.[c_legacyNtext] LIKE @p9 ESCAPE N'\\' AND t.[c_legacyNtext] IS NULL AND t.[c_legacyNtext] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1',
    ],
  },
  'search every op on date': {
    text: "SELECT TOP (@p1) CONVERT(varchar(10), t.[c_date], 23), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_date] = CAST(@p2 AS date) AND t.[c_date] <> CAST(@p3 AS date) AND t.[c_date] IN (CAST(@p4 AS date)) AND t.[c_date] > CAST(@p5 AS date) AND t.[c_date] >= CAST(@p6 AS date) AND t.[c_date] < CAST(@p7 AS date) AND t.[c_date] <= CAST(@p8 AS date) AND CONVERT(nvarchar(max), CONVERT(varchar(10), t.[c_date], 23)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_date] IS NULL AND t.[c_date] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
      '2024-02-29',
    ],
  },
  'search every op on time': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_time], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_time] = CAST(@p2 AS time(7)) AND t.[c_time] <> CAST(@p3 AS time(7)) AND t.[c_time] IN (CAST(@p4 AS time(7))) AND t.[c_time] > CAST(@p5 AS time(7)) AND t.[c_time] >= CAST(@p6 AS time(7)) AND t.[c_time] < CAST(@p7 AS time(7)) AND t.[c_time] <= CAST(@p8 AS time(7)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_time], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_time] IS NULL AND t.[c_time] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
      '10:00:00.1234567',
    ],
  },
  'search every op on time0': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_time0], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE 1 = 0 AND t.[c_time0] IS NOT NULL AND 1 = 0 AND t.[c_time0] > CAST(@p2 AS time(0)) AND t.[c_time0] > CAST(@p3 AS time(0)) AND t.[c_time0] <= CAST(@p4 AS time(0)) AND t.[c_time0] <= CAST(@p5 AS time(0)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_time0], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p6 ESCAPE N'\\' AND t.[c_time0] IS NULL AND t.[c_time0] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '10:00:00',
      '10:00:00',
      '10:00:00',
      '10:00:00',
      '10:00:00.5',
    ],
  },
  'search every op on datetime2': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_datetime2], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_datetime2] = CAST(@p2 AS datetime2(7)) AND t.[c_datetime2] <> CAST(@p3 AS datetime2(7)) AND t.[c_datetime2] IN (CAST(@p4 AS datetime2(7))) AND t.[c_datetime2] > CAST(@p5 AS datetime2(7)) AND t.[c_datetime2] >= CAST(@p6 AS datetime2(7)) AND t.[c_datetime2] < CAST(@p7 AS datetime2(7)) AND t.[c_datetime2] <= CAST(@p8 AS datetime2(7)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_datetime2], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_datetime2] IS NULL AND t.[c_datetime2] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
      '2024-02-29T10:00:00.1234567',
    ],
  },
  'search every op on datetime2of3': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_datetime2of3], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE 1 = 0 AND t.[c_datetime2of3] IS NOT NULL AND 1 = 0 AND t.[c_datetime2of3] > CAST(@p2 AS datetime2(3)) AND t.[c_datetime2of3] > CAST(@p3 AS datetime2(3)) AND t.[c_datetime2of3] <= CAST(@p4 AS datetime2(3)) AND t.[c_datetime2of3] <= CAST(@p5 AS datetime2(3)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_datetime2of3], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p6 ESCAPE N'\\' AND t.[c_datetime2of3] IS NULL AND t.[c_datetime2of3] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T10:00:00.123',
      '2024-02-29T10:00:00.123',
      '2024-02-29T10:00:00.123',
      '2024-02-29T10:00:00.123',
      '2024-02-29T10:00:00.1234567',
    ],
  },
  'search every op on datetime': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_datetime], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE 1 = 0 AND t.[c_datetime] IS NOT NULL AND 1 = 0 AND t.[c_datetime] > CAST(@p2 AS datetime) AND t.[c_datetime] > CAST(@p3 AS datetime) AND t.[c_datetime] <= CAST(@p4 AS datetime) AND t.[c_datetime] <= CAST(@p5 AS datetime) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_datetime], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p6 ESCAPE N'\\' AND t.[c_datetime] IS NULL AND t.[c_datetime] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T10:00:00.000',
      '2024-02-29T10:00:00.000',
      '2024-02-29T10:00:00.000',
      '2024-02-29T10:00:00.000',
      '2024-02-29T10:00:00.002',
    ],
  },
  'search every op on smalldatetime': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_smalldatetime], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_smalldatetime] = CAST(@p2 AS smalldatetime) AND t.[c_smalldatetime] <> CAST(@p3 AS smalldatetime) AND t.[c_smalldatetime] IN (CAST(@p4 AS smalldatetime)) AND t.[c_smalldatetime] > CAST(@p5 AS smalldatetime) AND t.[c_smalldatetime] >= CAST(@p6 AS smalldatetime) AND t.[c_smalldatetime] < CAST(@p7 AS smalldatetime) AND t.[c_smalldatetime] <= CAST(@p8 AS smalldatetime) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_smalldatetime], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_smalldatetime] IS NULL AND t.[c_smalldatetime] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
      '2024-02-29T10:00:00',
    ],
  },
  'search every op on datetimeoffset': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_datetimeoffset], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_datetimeoffset] = CAST(@p2 AS datetimeoffset(7)) AND t.[c_datetimeoffset] <> CAST(@p3 AS datetimeoffset(7)) AND t.[c_datetimeoffset] IN (CAST(@p4 AS datetimeoffset(7))) AND t.[c_datetimeoffset] > CAST(@p5 AS datetimeoffset(7)) AND t.[c_datetimeoffset] >= CAST(@p6 AS datetimeoffset(7)) AND t.[c_datetimeoffset] < CAST(@p7 AS datetimeoffset(7)) AND t.[c_datetimeoffset] <= CAST(@p8 AS datetimeoffset(7)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_datetimeoffset], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_datetimeoffset] IS NULL AND t.[c_datetimeoffset] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
      '2024-02-29T00:30:00.5+02:00',
    ],
  },
  'search every op on datetimeoffset0': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_datetimeoffset0], 121), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_datetimeoffset0] = CAST(@p2 AS datetimeoffset(0)) AND t.[c_datetimeoffset0] <> CAST(@p3 AS datetimeoffset(0)) AND t.[c_datetimeoffset0] IN (CAST(@p4 AS datetimeoffset(0))) AND t.[c_datetimeoffset0] > CAST(@p5 AS datetimeoffset(0)) AND t.[c_datetimeoffset0] >= CAST(@p6 AS datetimeoffset(0)) AND t.[c_datetimeoffset0] < CAST(@p7 AS datetimeoffset(0)) AND t.[c_datetimeoffset0] <= CAST(@p8 AS datetimeoffset(0)) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_datetimeoffset0], 121)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_datetimeoffset0] IS NULL AND t.[c_datetimeoffset0] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
      '2024-02-29T00:30:00Z',
    ],
  },
  'search every op on uniqueidentifier': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[c_uniqueidentifier]), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_uniqueidentifier] = CAST(@p2 AS uniqueidentifier) AND t.[c_uniqueidentifier] <> CAST(@p3 AS uniqueidentifier) AND t.[c_uniqueidentifier] IN (CAST(@p4 AS uniqueidentifier)) AND t.[c_uniqueidentifier] > CAST(@p5 AS uniqueidentifier) AND t.[c_uniqueidentifier] >= CAST(@p6 AS uniqueidentifier) AND t.[c_uniqueidentifier] < CAST(@p7 AS uniqueidentifier) AND t.[c_uniqueidentifier] <= CAST(@p8 AS uniqueidentifier) AND CONVERT(nvarchar(max), CONVERT(varchar(50), t.[c_uniqueidentifier])) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_uniqueidentifier] IS NULL AND t.[c_uniqueidentifier] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
    ],
  },
  'search every op on binary': {
    text: "SELECT TOP (@p1) CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_binary]), 1, 4001), 2), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_binary] = @p2 AND t.[c_binary] <> @p3 AND t.[c_binary] IN (@p4) AND t.[c_binary] > @p5 AND t.[c_binary] >= @p6 AND t.[c_binary] < @p7 AND t.[c_binary] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_binary]), 2)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_binary] IS NULL AND t.[c_binary] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      {
        type: 'bytes',
        value: 'AAH/AA==',
      },
      'AAH/AA==',
    ],
  },
  'search every op on varbinary': {
    text: "SELECT TOP (@p1) CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_varbinary]), 1, 4001), 2), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_varbinary] = @p2 AND t.[c_varbinary] <> @p3 AND t.[c_varbinary] IN (@p4) AND t.[c_varbinary] > @p5 AND t.[c_varbinary] >= @p6 AND t.[c_varbinary] < @p7 AND t.[c_varbinary] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_varbinary]), 2)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_varbinary] IS NULL AND t.[c_varbinary] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      'AAH/',
    ],
  },
  'search every op on longBinary': {
    text: "SELECT TOP (@p1) CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_longBinary]), 1, 4001), 2), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_longBinary] = @p2 AND t.[c_longBinary] <> @p3 AND t.[c_longBinary] IN (@p4) AND t.[c_longBinary] > @p5 AND t.[c_longBinary] >= @p6 AND t.[c_longBinary] < @p7 AND t.[c_longBinary] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_longBinary]), 2)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_longBinary] IS NULL AND t.[c_longBinary] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      'AAH/',
    ],
  },
  'search every op on image': {
    text: "SELECT TOP (@p1) CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_image]), 1, 4001), 2), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_image]), 2)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_image] IS NULL AND t.[c_image] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '0001FF.',
      '0001FF.',
      '0001FF.',
      '0001FF.',
      '0001FF.',
      '0001FF.',
      '0001FF.',
      'AAH/',
    ],
  },
  'search every op on rowversion': {
    text: "SELECT TOP (@p1) CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_rowversion]), 1, 4001), 2), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_rowversion] = @p2 AND t.[c_rowversion] <> @p3 AND t.[c_rowversion] IN (@p4) AND t.[c_rowversion] > @p5 AND t.[c_rowversion] >= @p6 AND t.[c_rowversion] < @p7 AND t.[c_rowversion] <= @p8 AND CONVERT(nvarchar(max), CONVERT(varchar(max), CONVERT(varbinary(max), t.[c_rowversion]), 2)) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_rowversion] IS NULL AND t.[c_rowversion] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      {
        type: 'bytes',
        value: 'AAAAAAAAB9E=',
      },
      'AAAAAAAAB9E=',
    ],
  },
  'search every op on xml': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_xml]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_xml]) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), t.[c_xml]) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_xml] IS NULL AND t.[c_xml] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '<a/>.',
      '<a/>.',
      '<a/>.',
      '<a/>.',
      '<a/>.',
      '<a/>.',
      '<a/>.',
      '<a/>',
    ],
  },
  'search every op on json': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_json]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_json]) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), t.[c_json]) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_json] IS NULL AND t.[c_json] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}.',
      '{"a":1}',
    ],
  },
  'search every op on variant': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_variant] IS NULL AND t.[c_variant] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1.',
      '1',
    ],
  },
  'search every op on hierarchyid': {
    text: "SELECT TOP (@p1) t.[c_hierarchyid].ToString(), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE t.[c_hierarchyid] = CAST(@p2 AS hierarchyid) AND t.[c_hierarchyid] <> CAST(@p3 AS hierarchyid) AND t.[c_hierarchyid] IN (CAST(@p4 AS hierarchyid)) AND t.[c_hierarchyid] > CAST(@p5 AS hierarchyid) AND t.[c_hierarchyid] >= CAST(@p6 AS hierarchyid) AND t.[c_hierarchyid] < CAST(@p7 AS hierarchyid) AND t.[c_hierarchyid] <= CAST(@p8 AS hierarchyid) AND CONVERT(nvarchar(max), t.[c_hierarchyid].ToString()) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_hierarchyid] IS NULL AND t.[c_hierarchyid] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      '/1/',
      '/1/',
      '/1/',
      '/1/',
      '/1/',
      '/1/',
      '/1/',
      '/1/',
    ],
  },
  'search every op on geometry': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_geometry].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_geometry].ToString()) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), t.[c_geometry].ToString()) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_geometry] IS NULL AND t.[c_geometry] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2)',
    ],
  },
  'search every op on geography': {
    text: "SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[c_geography].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[samples] AS t WHERE (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 = @p2 AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 <> @p3 AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 IN (@p4) AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 > @p5 AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 >= @p6 AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 < @p7 AND (CONVERT(nvarchar(max), t.[c_geography].ToString()) + N'.') COLLATE Latin1_General_BIN2 <= @p8 AND CONVERT(nvarchar(max), t.[c_geography].ToString()) COLLATE Latin1_General_100_CI_AS_KS_WS_SC LIKE @p9 ESCAPE N'\\' AND t.[c_geography] IS NULL AND t.[c_geography] IS NOT NULL ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2).',
      'POINT (1 2)',
    ],
  },
  'get by a composite key': {
    text: 'SELECT TOP (1) LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[quantity]), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WHERE t.[order_id] = @p1 AND t.[line] = CAST(@p2 AS smallint)',
    params: [
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
  'get by a unique key': {
    text: 'SELECT TOP (1) t.[email], LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t WHERE t.[email] = @p1',
    params: ['a@b.c'],
  },
  'get from a view by a key that may match several rows': {
    text: "SELECT TOP (1) t.[actor], CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[amount])) FROM [public].[activity] AS t WHERE t.[actor] = @p1 ORDER BY CASE WHEN t.[at] IS NULL THEN 1 ELSE 0 END, t.[at], CASE WHEN t.[actor] IS NULL THEN 1 ELSE 0 END, t.[actor], CASE WHEN t.[amount] IS NULL THEN 1 ELSE 0 END, t.[amount], CASE WHEN (CONVERT(nvarchar(max), t.[actor]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[actor]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[amount]))) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[amount]))) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[detail]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[detail]) + N'.') COLLATE Latin1_General_BIN2",
    params: ['x'],
  },
  'search ordered by the caller': {
    text: 'SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), t.[bio], CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t ORDER BY CASE WHEN t.[created_at] IS NULL THEN 0 ELSE 1 END, t.[created_at] DESC, CASE WHEN t.[bio] IS NULL THEN 1 ELSE 0 END, t.[bio], t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search ordered by a part of the tie-break': {
    text: 'SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t ORDER BY t.[id] DESC',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search ordered twice by one column': {
    text: 'SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[id]) FROM [public].[customers] AS t ORDER BY t.[name], t.[id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search whose primary key is hidden': {
    text: 'SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t ORDER BY t.[email]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search whose keys are all hidden': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t ORDER BY t.[name] DESC, t.[tenant_id], CASE WHEN t.[bio] IS NULL THEN 1 ELSE 0 END, t.[bio], CASE WHEN t.[balance] IS NULL THEN 1 ELSE 0 END, t.[balance], CASE WHEN t.[created_at] IS NULL THEN 1 ELSE 0 END, t.[created_at], CASE WHEN t.[ssn] IS NULL THEN 1 ELSE 0 END, t.[ssn], (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[balance])) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[balance])) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[created_at], 121)) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[created_at], 121)) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[ssn]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[ssn]) + N'.') COLLATE Latin1_General_BIN2",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search whose only visible key can be null': {
    text: "SELECT TOP (@p1) CONVERT(nvarchar(max), t.[name]), LEFT(CONVERT(nvarchar(max), t.[bio]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[customers] AS t ORDER BY t.[name], CASE WHEN t.[bio] IS NULL THEN 1 ELSE 0 END, t.[bio], CASE WHEN t.[balance] IS NULL THEN 1 ELSE 0 END, t.[balance], CASE WHEN t.[created_at] IS NULL THEN 1 ELSE 0 END, t.[created_at], CASE WHEN t.[ssn] IS NULL THEN 1 ELSE 0 END, t.[ssn], (CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[balance])) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[balance])) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[created_at], 121)) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), t.[created_at], 121)) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[ssn]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[ssn]) + N'.') COLLATE Latin1_General_BIN2",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search ordered over a composite key': {
    text: 'SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t ORDER BY t.[line] DESC, t.[order_id]',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search over a view without a key': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[at], 121), LEFT(CONVERT(nvarchar(max), t.[detail]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [public].[activity] AS t ORDER BY CASE WHEN t.[amount] IS NULL THEN 0 ELSE 1 END, t.[amount] DESC, CASE WHEN t.[at] IS NULL THEN 1 ELSE 0 END, t.[at], CASE WHEN t.[actor] IS NULL THEN 1 ELSE 0 END, t.[actor], CASE WHEN (CONVERT(nvarchar(max), t.[actor]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[actor]) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[amount]))) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[amount]))) + N'.') COLLATE Latin1_General_BIN2, CASE WHEN (CONVERT(nvarchar(max), t.[detail]) + N'.') COLLATE Latin1_General_BIN2 IS NULL THEN 1 ELSE 0 END, (CONVERT(nvarchar(max), t.[detail]) + N'.') COLLATE Latin1_General_BIN2",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'search of every type with short cells': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), t.[id]), CONVERT(varchar(50), t.[c_tinyint]), CONVERT(varchar(50), t.[c_smallint]), CONVERT(varchar(50), t.[c_int]), CONVERT(varchar(50), t.[c_bigint]), CONVERT(varchar(50), t.[c_bit]), CONVERT(varchar(50), t.[c_decimal]), CONVERT(varchar(50), t.[c_numeric]), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_money])), CONVERT(varchar(50), CONVERT(decimal(19, 4), t.[c_smallmoney])), CONVERT(varchar(50), t.[c_float], 3), CONVERT(varchar(50), t.[c_real], 3), LEFT(CONVERT(nvarchar(max), t.[c_folded]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_exact]) COLLATE Latin1_General_100_CI_AS_SC, 17), t.[c_fixed], LEFT(CONVERT(nvarchar(max), t.[c_long]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_latin1]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_greek]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_utf8]) COLLATE Latin1_General_100_CI_AS_SC, 17), CONVERT(nvarchar(max), t.[c_fixedLatin1]), LEFT(CONVERT(nvarchar(max), t.[c_longLatin1]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_legacyText]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_legacyNtext]) COLLATE Latin1_General_100_CI_AS_SC, 17), CONVERT(varchar(10), t.[c_date], 23), CONVERT(varchar(50), t.[c_time], 121), CONVERT(varchar(50), t.[c_time0], 121), CONVERT(varchar(50), t.[c_datetime2], 121), CONVERT(varchar(50), t.[c_datetime2of3], 121), CONVERT(varchar(50), t.[c_datetime], 121), CONVERT(varchar(50), t.[c_smalldatetime], 121), CONVERT(varchar(50), t.[c_datetimeoffset], 121), CONVERT(varchar(50), t.[c_datetimeoffset0], 121), CONVERT(varchar(50), t.[c_uniqueidentifier]), CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_binary]), 1, 17), 2), CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_varbinary]), 1, 17), 2), CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_longBinary]), 1, 17), 2), CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_image]), 1, 17), 2), CONVERT(varchar(max), SUBSTRING(CONVERT(varbinary(max), t.[c_rowversion]), 1, 17), 2), LEFT(CONVERT(nvarchar(max), t.[c_xml]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_json]) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), CASE CONVERT(nvarchar(128), SQL_VARIANT_PROPERTY(t.[c_variant], 'BaseType')) WHEN N'money' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'smallmoney' THEN CONVERT(varchar(50), CONVERT(decimal(19, 4), CONVERT(money, t.[c_variant]))) WHEN N'float' THEN CONVERT(varchar(50), CONVERT(float(53), t.[c_variant]), 3) WHEN N'real' THEN CONVERT(varchar(50), CONVERT(real, t.[c_variant]), 3) WHEN N'date' THEN CONVERT(varchar(10), CONVERT(date, t.[c_variant]), 23) WHEN N'time' THEN CONVERT(varchar(50), CONVERT(time(7), t.[c_variant]), 121) WHEN N'datetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'smalldatetime' THEN CONVERT(varchar(50), CONVERT(datetime, t.[c_variant]), 121) WHEN N'datetime2' THEN CONVERT(varchar(50), CONVERT(datetime2(7), t.[c_variant]), 121) WHEN N'datetimeoffset' THEN CONVERT(varchar(50), CONVERT(datetimeoffset(7), t.[c_variant]), 121) WHEN N'binary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) WHEN N'varbinary' THEN CONVERT(varchar(max), CONVERT(varbinary(8000), t.[c_variant]), 1) ELSE CONVERT(nvarchar(max), t.[c_variant]) END) COLLATE Latin1_General_100_CI_AS_SC, 17), t.[c_hierarchyid].ToString(), LEFT(CONVERT(nvarchar(max), t.[c_geometry].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17), LEFT(CONVERT(nvarchar(max), t.[c_geography].ToString()) COLLATE Latin1_General_100_CI_AS_SC, 17) FROM [public].[samples] AS t ORDER BY t.[id]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate with every metric': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)), CONVERT(varchar(50), COUNT_BIG(t.[bio])), CONVERT(varchar(50), COUNT_BIG(DISTINCT t.[email])), CONVERT(varchar(50), SUM(CAST(t.[balance] AS decimal(38, 4)))), CONVERT(varchar(50), AVG(CAST(t.[id] AS decimal(38, 16)))), CONVERT(varchar(50), CAST(STUFF(MIN((CONVERT(char(50), SWITCHOFFSET(CAST(t.[created_at] AS datetimeoffset(7)), '+00:00'), 121) + CONVERT(varchar(50), t.[created_at], 121)) COLLATE Latin1_General_BIN2), 1, 50, '') AS datetimeoffset(7)), 121), CONVERT(varchar(50), CAST(STUFF(MAX((CONVERT(char(50), SWITCHOFFSET(CAST(t.[created_at] AS datetimeoffset(7)), '+00:00'), 121) + CONVERT(varchar(50), t.[created_at], 121)) COLLATE Latin1_General_BIN2), 1, 50, '') AS datetimeoffset(7)), 121) FROM [public].[customers] AS t",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate by groups in the order of a metric and a group': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1), LEFT(MIN((CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), COUNT_BIG(*)), CONVERT(varchar(50), SUM(CAST(t.[balance] AS decimal(38, 4)))) FROM [public].[customers] AS t GROUP BY t.[name], t.[bio] ORDER BY CASE WHEN SUM(CAST(t.[balance] AS decimal(38, 4))) IS NULL THEN 0 ELSE 1 END, SUM(CAST(t.[balance] AS decimal(38, 4))) DESC, CASE WHEN t.[bio] IS NULL THEN 0 ELSE 1 END, t.[bio] DESC, t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate of values that are equal and may look different': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), CONVERT(varchar(50), t.[email], 121)) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), CONVERT(varchar(50), t.[email], 121)) + N'.') COLLATE Latin1_General_BIN2)) - 1), CONVERT(varchar(50), t.[price]), CONVERT(varchar(50), MIN(t.[price])) FROM [public].[prices] AS t GROUP BY t.[email], t.[price] ORDER BY CASE WHEN t.[email] IS NULL THEN 1 ELSE 0 END, t.[email], CASE WHEN t.[price] IS NULL THEN 1 ELSE 0 END, t.[price]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate of groups alone': {
    text: "SELECT TOP (@p1) LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1) FROM [public].[customers] AS t GROUP BY t.[name] ORDER BY t.[name]",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate without groups in the order of its metric': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t ORDER BY COUNT_BIG(*)',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate in the order of two metrics that are the same': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)), CONVERT(varchar(50), COUNT_BIG(*)) FROM [public].[customers] AS t ORDER BY COUNT_BIG(*)',
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate of the first and last of texts that compare loosely': {
    text: "SELECT TOP (@p1) CONVERT(varchar(50), CAST(STUFF(MIN((CONVERT(char(50), SWITCHOFFSET(CAST(t.[email] AS datetimeoffset(7)), '+00:00'), 121) + CONVERT(varchar(50), t.[email], 121)) COLLATE Latin1_General_BIN2), 1, 50, '') AS datetimeoffset(7)), 121), CONVERT(varchar(50), CAST(STUFF(MAX((CONVERT(char(50), SWITCHOFFSET(CAST(t.[email] AS datetimeoffset(7)), '+00:00'), 121) + CONVERT(varchar(50), t.[email], 121)) COLLATE Latin1_General_BIN2), 1, 50, '') AS datetimeoffset(7)), 121) FROM [public].[prices] AS t",
    params: [
      {
        type: 'integer',
        value: '11',
      },
    ],
  },
  'aggregate by groups of a size in the order of a metric': {
    text: "SELECT TOP (@p1) g.c0, g.c1, g.c2, g.c3 FROM (SELECT LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1) AS c0, LEFT(MIN((CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[bio]) + N'.') COLLATE Latin1_General_BIN2)) - 1) AS c1, CONVERT(varchar(50), COUNT_BIG(*)) AS c2, CONVERT(varchar(50), SUM(CAST(t.[balance] AS decimal(38, 4)))) AS c3, COUNT_BIG(*) AS members, ROW_NUMBER() OVER (ORDER BY COUNT_BIG(*), t.[name], CASE WHEN t.[bio] IS NULL THEN 1 ELSE 0 END, t.[bio]) AS place, SUM(CASE WHEN COUNT_BIG(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY CASE WHEN SUM(CAST(t.[balance] AS decimal(38, 4))) IS NULL THEN 0 ELSE 1 END, SUM(CAST(t.[balance] AS decimal(38, 4))) DESC, CASE WHEN t.[bio] IS NULL THEN 0 ELSE 1 END, t.[bio] DESC, t.[name]) AS turn FROM [public].[customers] AS t WHERE t.[id] > CAST(@p2 AS int) AND t.[tenant_id] = CAST(@p3 AS uniqueidentifier) GROUP BY t.[name], t.[bio]) AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn",
    params: [{ type: 'integer', value: '11' }, { type: 'integer', value: '1' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'aggregate by groups of a size that are equal and may look different': {
    text: "SELECT TOP (@p1) g.c0, g.c1, g.c2 FROM (SELECT LEFT(MIN((CONVERT(nvarchar(max), CONVERT(varchar(50), t.[email], 121)) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), CONVERT(varchar(50), t.[email], 121)) + N'.') COLLATE Latin1_General_BIN2)) - 1) AS c0, CONVERT(varchar(50), t.[price]) AS c1, CONVERT(varchar(50), AVG(CAST(t.[price] AS decimal(38, 13)))) AS c2, COUNT_BIG(*) AS members, ROW_NUMBER() OVER (ORDER BY COUNT_BIG(*), CASE WHEN t.[email] IS NULL THEN 1 ELSE 0 END, t.[email], CASE WHEN t.[price] IS NULL THEN 1 ELSE 0 END, t.[price]) AS place, SUM(CASE WHEN COUNT_BIG(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY CASE WHEN t.[email] IS NULL THEN 1 ELSE 0 END, t.[email], CASE WHEN t.[price] IS NULL THEN 1 ELSE 0 END, t.[price]) AS turn FROM [public].[prices] AS t GROUP BY t.[email], t.[price]) AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn",
    params: [{ type: 'integer', value: '11' }],
  },
  'aggregate of groups alone of a size': {
    text: "SELECT TOP (@p1) g.c0 FROM (SELECT LEFT(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2), LEN(MIN((CONVERT(nvarchar(max), t.[name]) + N'.') COLLATE Latin1_General_BIN2)) - 1) AS c0, COUNT_BIG(*) AS members, ROW_NUMBER() OVER (ORDER BY COUNT_BIG(*), t.[name]) AS place, SUM(CASE WHEN COUNT_BIG(*) < 5 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t.[name]) AS turn FROM [public].[customers] AS t GROUP BY t.[name]) AS g WHERE g.members >= 5 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn",
    params: [{ type: 'integer', value: '11' }],
  },
  'aggregate without groups of a size': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(50), COUNT_BIG(*)), CONVERT(varchar(50), COUNT_BIG(DISTINCT t.[email])) FROM [public].[customers] AS t WHERE t.[name] <> CAST(@p2 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) HAVING COUNT_BIG(*) >= 5 ORDER BY COUNT_BIG(*) DESC',
    params: [{ type: 'integer', value: '11' }, 'x'],
  },
  'get with a parent': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[quantity]), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WHERE t.[order_id] = @p1 AND t.[line] = CAST(@p2 AS smallint) AND EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p3 AS uniqueidentifier))',
    params: [{ type: 'integer', value: '9' }, { type: 'integer', value: '2' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'search with a parent': {
    text: 'SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WHERE t.[quantity] < CAST(@p2 AS int) AND EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p3 AS uniqueidentifier)) ORDER BY t.[order_id], t.[line]',
    params: [{ type: 'integer', value: '11' }, { type: 'integer', value: '9' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'aggregate with a parent': {
    text: 'SELECT TOP (@p1) g.c0, g.c1 FROM (SELECT CONVERT(varchar(50), t.[quantity]) AS c0, CONVERT(varchar(50), COUNT_BIG(*)) AS c1, COUNT_BIG(*) AS members, ROW_NUMBER() OVER (ORDER BY COUNT_BIG(*), t.[quantity]) AS place, SUM(CASE WHEN COUNT_BIG(*) < 3 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t.[quantity]) AS turn FROM [public].[order_lines] AS t WHERE EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[order_id] AND p1.[tenant_id] = CAST(@p2 AS uniqueidentifier)) GROUP BY t.[quantity]) AS g WHERE g.members >= 3 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn',
    params: [{ type: 'integer', value: '11' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
  },
  'get with parents of parents': {
    text: 'SELECT TOP (1) CONVERT(varchar(50), t.[quantity]), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WHERE t.[order_id] = @p1 AND t.[line] = CAST(@p2 AS smallint) AND t.[quantity] > CAST(@p3 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p4 AS bit)) AND ((p1.[name] = CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL))',
    params: [
      { type: 'integer', value: '9' },
      { type: 'integer', value: '2' },
      { type: 'integer', value: '1' },
      { type: 'integer', value: '0' },
      'a',
    ],
  },
  'search with parents of parents': {
    text: 'SELECT TOP (@p1) LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), t.[order_id]), CONVERT(varchar(50), t.[line]) FROM [public].[order_lines] AS t WHERE t.[quantity] < CAST(@p2 AS int) AND t.[quantity] > CAST(@p3 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p4 AS bit)) AND ((p1.[name] = CAST(@p5 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL)) ORDER BY t.[order_id], t.[line]',
    params: [
      { type: 'integer', value: '11' },
      { type: 'integer', value: '9' },
      { type: 'integer', value: '1' },
      { type: 'integer', value: '0' },
      'a',
    ],
  },
  'aggregate with parents of parents': {
    text: 'SELECT TOP (@p1) g.c0, g.c1 FROM (SELECT CONVERT(varchar(50), t.[quantity]) AS c0, CONVERT(varchar(50), COUNT_BIG(*)) AS c1, COUNT_BIG(*) AS members, ROW_NUMBER() OVER (ORDER BY COUNT_BIG(*), t.[quantity]) AS place, SUM(CASE WHEN COUNT_BIG(*) < 3 THEN 1 ELSE 0 END) OVER () AS fallen, ROW_NUMBER() OVER (ORDER BY t.[quantity]) AS turn FROM [public].[order_lines] AS t WHERE t.[quantity] > CAST(@p2 AS int) AND ((EXISTS (SELECT 1 FROM [public].[customers] AS p1 WHERE p1.[id] = t.[line] AND p1.[balance] = t.[order_id] AND EXISTS (SELECT 1 FROM [public].[flagged] AS p2 WHERE p2.[id] = p1.[balance] AND p2.[deleted] = CAST(@p3 AS bit)) AND ((p1.[name] = CAST(@p4 COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(8000)) AND EXISTS (SELECT 1 FROM [public].[prices] AS p2 WHERE p2.[email] = p1.[email])) OR (p1.[ssn] IS NULL)))) OR (t.[note] IS NULL)) GROUP BY t.[quantity]) AS g WHERE g.members >= 3 AND (g.fallen <> 1 OR g.place > 2) ORDER BY g.turn',
    params: [{ type: 'integer', value: '11' }, { type: 'integer', value: '1' }, { type: 'integer', value: '0' }, 'a'],
  },
}
