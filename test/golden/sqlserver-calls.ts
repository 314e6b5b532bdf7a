import type { GoldenCalls } from './postgres-calls.js'

export const SQLSERVER_CALLS: GoldenCalls = {
  'function without parameters': {
    text: 'SELECT CONVERT(varchar(50), [api].[do "it"]())',
    params: [],
    columns: ['result'],
  },
  'function with arguments of every binding': {
    text: 'SELECT CONVERT(varchar(50), [api].[do "it"](CAST(@p1 AS int), @p2, CAST(@p3 AS money), CAST(@p4 AS real), @p5, CAST(@p6 AS bit), CAST(@p7 AS datetimeoffset(7)), CASE WHEN CONVERT(varbinary(max), CONVERT(nvarchar(max), CONVERT(varchar(max), @p8 COLLATE Greek_CS_AS))) = CONVERT(varbinary(max), CONVERT(nvarchar(max), @p8)) THEN CONVERT(nvarchar(max), @p8) ELSE CONVERT(nvarchar(max), CONVERT(int, N\'not of the code page\')) END, CAST(@p9 AS xml)))',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      {
        type: 'integer',
        value: '9223372036854775807',
      },
      {
        type: 'decimal',
        value: '1.5000',
      },
      {
        type: 'float',
        value: '0.10000000149011612',
      },
      {
        type: 'bytes',
        value: 'AAH/',
      },
      {
        type: 'integer',
        value: '1',
      },
      '2024-02-29T00:30:00+02:00',
      'ά',
      '<a/>',
    ],
    columns: ['result'],
  },
  'function without its last argument': {
    text: 'SELECT CONVERT(varchar(50), [api].[do "it"](NULL, DEFAULT))',
    params: [],
    columns: ['result'],
  },
  'function that gives a long text': {
    text: 'SELECT LEFT(CONVERT(nvarchar(max), [api].[do "it"]()) COLLATE Latin1_General_100_CI_AS_SC, 17)',
    params: [],
    columns: ['result'],
  },
  'function that gives a shape': {
    text: 'SELECT LEFT(CONVERT(nvarchar(max), [api].[do "it"]().ToString()) COLLATE Latin1_General_100_CI_AS_SC, 4001)',
    params: [],
    columns: ['result'],
  },
  'function that gives rows of some columns': {
    text: 'SELECT TOP (@p1) CONVERT(varchar(10), t.[month], 23), LEFT(CONVERT(nvarchar(max), t.[note]) COLLATE Latin1_General_100_CI_AS_SC, 4001) FROM [api].[do "it"](CAST(@p2 AS int), CAST(@p3 AS decimal(20, 4))) AS t',
    params: [
      {
        type: 'integer',
        value: '8',
      },
      {
        type: 'integer',
        value: '1',
      },
      {
        type: 'decimal',
        value: '2.0000',
      },
    ],
    columns: ['month', 'note'],
  },
  'procedure without parameters': {
    text: 'EXEC [api].[do "it"]',
    params: [],
    columns: [],
  },
  'procedure that gives nothing': {
    text: 'DECLARE @v1 nvarchar(40) = @p1; EXEC [api].[do "it"] @v1',
    params: ['x'],
    columns: [],
  },
  'procedure with outputs': {
    text: 'DECLARE @v1 int, @v2 smallint = CAST(@p1 AS smallint), @v4 nvarchar(max) = @p2, @v5 float(53) = @p3, @v6 varchar(max); EXEC [api].[do "it"] @v1 OUTPUT, @v2, DEFAULT, @v4 OUTPUT, @v5 OUTPUT, @v6 OUTPUT; SELECT CONVERT(varchar(50), @v1), LEFT(CONVERT(nvarchar(max), @v4) COLLATE Latin1_General_100_CI_AS_SC, 4001), CONVERT(varchar(50), @v5, 3), LEFT(CONVERT(nvarchar(max), @v6) COLLATE Latin1_General_100_CI_AS_SC, 4001)',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      'x',
      {
        type: 'float',
        value: '0.1',
      },
    ],
    columns: ['first', 'm', 'f', 'last'],
  },
  'procedure with some of its outputs': {
    text: 'DECLARE @v1 int, @v2 smallint = CAST(@p1 AS smallint), @v3 date = CAST(@p2 AS date), @v4 nvarchar(max), @v5 float(53) = @p3, @v6 varchar(max); EXEC [api].[do "it"] @v1 OUTPUT, @v2, @v3, @v4 OUTPUT, @v5 OUTPUT, @v6 OUTPUT; SELECT LEFT(CONVERT(nvarchar(max), @v4) COLLATE Latin1_General_100_CI_AS_SC, 4001), LEFT(CONVERT(nvarchar(max), @v6) COLLATE Latin1_General_100_CI_AS_SC, 4001)',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      '2024-02-29',
      {
        type: 'float',
        value: '0.1',
      },
    ],
    columns: ['m', 'last'],
  },
  'procedure with some columns of its result sets': {
    text: 'DECLARE @v1 int, @v2 smallint = CAST(@p1 AS smallint), @v4 nvarchar(max) = @p2, @v5 float(53) = @p3, @v6 varchar(max); EXEC [api].[do "it"] @v1 OUTPUT, @v2, DEFAULT, @v4 OUTPUT, @v5 OUTPUT, @v6 OUTPUT',
    params: [
      {
        type: 'integer',
        value: '1',
      },
      'x',
      {
        type: 'float',
        value: '0.1',
      },
    ],
    columns: [],
    sets: {
      names: ['one', 'Two'],
      cellCharsMax: 16,
    },
  },
}
