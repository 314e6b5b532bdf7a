import { type SampleValues, sampleColumns } from './sample-values.js'
import type { SqlserverTestServer } from './sqlserver.js'

const NINES = '9'.repeat(38)
const LONG_DECIMAL = `${'9'.repeat(28)}.${'9'.repeat(10)}`
const LEAST_DECIMAL = '0.0000000001'
const UUID = '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'
const EXACT = 'COLLATE Latin1_General_BIN2'
/** As long as the server lets a name be. */
const LONG_NAME = `long ${'n'.repeat(123)}`

/**
 * A server that merely speaks the protocol keeps six digits of a second, takes no names with a bracket that closes, of 128
 * characters or of characters beyond the database's own, numbers its errors its own way, and may not show bytes or cut texts.
 */
export function sqlserverSamples({
  genuine,
  collates,
  writesBytes,
}: Pick<SqlserverTestServer, 'genuine' | 'collates' | 'writesBytes'>): SampleValues {
  const fine = genuine ? '1234567' : '123456'
  const last = genuine ? '9999999' : '999999'
  const least = genuine ? '0000001' : '000001'
  const digits = genuine ? 7 : 6
  const whole = <T>(items: readonly T[]): readonly T[] => (genuine ? items : [])
  const long = <T>(items: readonly T[]): readonly T[] => (collates ? items : [])
  const bytes = <T>(items: readonly T[]): readonly T[] => (writesBytes ? items : [])
  return {
    before: '',
    columns: sampleColumns([
      ['u1#', 'tinyint', [0, 255]],
      ['n2#', 'smallint', [-32768, 32767]],
      ['n4#', 'int', [-2147483648, 0, 2147483647]],
      ['n8#', 'bigint', ['9223372036854775807', '-9223372036854775808', '9007199254740993', 5]],
      ['dec#', 'decimal(38,10)', [LONG_DECIMAL, `-${LONG_DECIMAL}`, LEAST_DECIMAL, '0.0000000000']],
      ['num#', 'numeric(38,0)', [NINES, `-${NINES}`, '0']],
      ['dec2#', 'decimal(12,3)', ['-123456789.125', '0.100']],
      ['price', 'decimal(8,2)', ['12.50']],
      ['m#', 'money', ['8.3266', '19.9900', '922337203685477.5807', '-922337203685477.5808', '0.0001']],
      ['sm#', 'smallmoney', ['8.3266', '214748.3647', '-214748.3648']],
      ['f4#', 'real', [0.1, 16777216, 3.4028235e38, -1.1754944e-38]],
      ['f8#', 'float', [0.1, 1.7976931348623157e308, -1.7976931348623157e308, 2.2250738585072014e-308]],
      ['flag#', 'bit', [true, false]],
      ...long([
        ['t', 'nvarchar(max)', ['', 'é 😀 "q" \\ \' $1 @p1 ? {a,b} \n\t', 'NULL', 'null', 'x'.repeat(3000), 'a  ']],
      ] as const),
      [
        'vc#',
        `nvarchar(40) ${EXACT}`,
        ['x'.repeat(40), '', ' a', '😀'.repeat(20), "'; -- \\", '__proto__', 'NULL', '[%_]'],
      ],
      ['folded#', 'nvarchar(60) COLLATE Latin1_General_CI_AS', ['Straße', 'ÀÉ', 'abc']],
      ['latin#', 'varchar(40) COLLATE Latin1_General_CI_AS', ['é€ÿ', '', 'plain']],
      ...whole([['greek#', 'varchar(40) COLLATE Greek_CS_AS', ['αβγ', 'abc']]] as const),
      ['bc#', `nchar(5) ${EXACT}`, ['abcde', 'é日本 x']],
      ...long([['huge', 'varchar(max) COLLATE Latin1_General_CI_AS', ['y'.repeat(3000)]]] as const),
      [
        'ts#',
        `datetime2(${digits})`,
        [
          ...[`2024-05-31T10:00:00.${fine}`, '2024-03-10T02:30:00', '2024-11-03T01:30:00', '0001-01-01T00:00:00'],
          ...[`9999-12-31T23:59:59.${last}`, `2024-05-31T10:00:00.${least}`],
        ],
      ],
      ['ts0#', 'datetime2(0)', ['2024-05-31T10:00:00']],
      ['ts3#', 'datetime2(3)', ['2024-05-31T10:00:00.123', '2024-05-31T10:00:00.1']],
      ['old#', 'datetime', ['1753-01-01T00:00:00', '2024-05-31T10:00:00.123', '9999-12-31T23:59:59.997']],
      ['small#', 'smalldatetime', ['1900-01-01T00:00:00', '2079-06-06T23:59:00']],
      [
        'tz#',
        `datetimeoffset(${digits})`,
        [
          ...[`2024-03-10T07:30:00.${fine}Z`, `2024-03-10T02:30:00.${fine}-05:00`, '2024-11-03T01:30:00-04:00'],
          ...['2024-11-03T01:30:00-05:00', '0001-01-01T00:00:00Z', `9999-12-31T23:59:59.${last}Z`],
          ...whole(['2024-05-31T10:00:00+14:00', '2024-05-31T10:00:00-14:00']),
        ],
      ],
      ['d#', 'date', ['2024-02-29', '0001-01-01', '9999-12-31', '2024-03-10']],
      ['tm#', `time(${digits})`, [`23:59:59.${last}`, '10:11:12.5', '00:00:00', `00:00:00.${least}`]],
      ['tm0#', 'time(0)', ['23:59:59']],
      ['uid#', 'uniqueidentifier', [UUID]],
      ...bytes([
        ['bin4#', 'binary(4)', ['AAEC/w==', 'YWIgIA==']],
        ['vb#', 'varbinary(60)', ['', 'AAH/', 'YSA=', 'YQ==', Buffer.from('any bytes \0 at all').toString('base64')]],
        ['bl', 'varbinary(max)', ['', Buffer.alloc(1_500, 255).toString('base64')]],
      ] as const),
      ['__proto__', 'nvarchar(20)', ['__proto__']],
      ['constructor', 'int', [1]],
      ['tostring', 'bigint', ['9223372036854775807']],
      ['a b"c\'? [d', 'nvarchar(20)', [']']],
      ...whole([
        ['a]b', 'nvarchar(20)', [']']],
        ['😀 ünï', 'nvarchar(20)', ['😀']],
        [LONG_NAME, 'int', [128]],
      ] as const),
    ]),
    checks: ['CHECK (price >= 0)'],
    turned: [
      ['dec2', '1', '1.000'],
      ['m', '8.3', '8.3000'],
      ['ts', '2024-05-31 10:00:00.500000', '2024-05-31T10:00:00.5'],
      ['tm', '10:00', '10:00:00'],
      ['uid', UUID.toUpperCase(), UUID],
      ...bytes([['bin4', 'YQ==', 'YQAAAA==']] as const),
    ],
    refused: [
      ['vc', 'x'.repeat(41), 'DB_VALUE'],
      ['u1', '256', 'DB_VALUE'],
      ['n2', '32768', 'DB_VALUE'],
      ['price', '-1', 'DB_CONSTRAINT'],
      ...whole([
        ['dec2', '1234567890', 'DB_VALUE'],
        ['d', '2024-02-30', 'DB_VALUE'],
        ['m', '922337203685477.5808', 'DB_VALUE'],
        ['greek', '日', 'DB_VALUE'],
      ] as const),
    ],
    literals: [
      ['n8', '9223372036854775807', '9223372036854775807'],
      ['n8', '-9223372036854775808', '-9223372036854775808'],
      ['dec', LONG_DECIMAL, LONG_DECIMAL],
      ['dec', `-${LONG_DECIMAL}`, `-${LONG_DECIMAL}`],
      ['dec', LEAST_DECIMAL, LEAST_DECIMAL],
      ['num', NINES, NINES],
      ['m', '8.3266', '8.3266'],
      ['m', '922337203685477.5807', '922337203685477.5807'],
      ['m', '-922337203685477.5808', '-922337203685477.5808'],
      ['sm', '-214748.3648', '-214748.3648'],
      ['f4', '0.1', 0.1],
      ['f8', '1.7976931348623157e308', 1.7976931348623157e308],
      ['f8', '-0e0', 0],
      ['flag', '1', true],
      ['ts', `'2024-05-31 10:00:00.${fine}'`, `2024-05-31T10:00:00.${fine}`],
      ['ts', `'0001-01-01 00:00:00'`, '0001-01-01T00:00:00'],
      ['ts', `'2024-03-10 02:30:00'`, '2024-03-10T02:30:00'],
      ['old', `'2024-05-31 10:00:00.123'`, '2024-05-31T10:00:00.123'],
      ['small', `'2079-06-06 23:59:00'`, '2079-06-06T23:59:00'],
      [
        'tz',
        `CAST('2024-11-03 01:30:00.${fine} -04:00' AS datetimeoffset(${digits}))`,
        `2024-11-03T01:30:00.${fine}-04:00`,
      ],
      ['tz', `CAST('2024-11-03 05:30:00 +00:00' AS datetimeoffset(${digits}))`, '2024-11-03T05:30:00Z'],
      ['tm', `'23:59:59.${last}'`, `23:59:59.${last}`],
      ['tm0', `'23:59:59'`, '23:59:59'],
      ['d', `'0001-01-01'`, '0001-01-01'],
      ['uid', `'${UUID.toUpperCase()}'`, UUID],
      ...long([['t', `N'😀 é '' "'`, '😀 é \' "']] as const),
      ['vc', `N'a  '`, 'a  '],
      ['bc', `N'ab'`, 'ab   '],
      ['latin', `N'é€ÿ'`, 'é€ÿ'],
      ['__proto__', `N'x'`, 'x'],
      ['a b"c\'? [d', `N']'`, ']'],
      ...whole([
        ['a]b', `N']'`, ']'],
        ['😀 ünï', `N'😀'`, '😀'],
        [LONG_NAME, '128', 128],
      ] as const),
      ...bytes([
        ['vb', '0x00FF20', 'AP8g'],
        ['bin4', '0x61', 'YQAAAA=='],
        ['bl', '0x', ''],
      ] as const),
    ],
    times: {
      columns: ['ts', 'ts0', 'ts3', 'tz', 'd', 'tm', 'tm0'],
      agree: `SELECT CASE WHEN ts = CAST(tz AS datetime2(${digits})) THEN 1 ELSE 0 END,
                     CASE WHEN d = CAST(ts AS date) THEN 1 ELSE 0 END,
                     CASE WHEN tm = CAST(ts AS time(${digits})) THEN 1 ELSE 0 END,
                     CASE WHEN ABS(DATEDIFF(millisecond, ts, ts3)) <= 1 THEN 1 ELSE 0 END,
                     CASE WHEN ABS(DATEDIFF(second, ts, ts0)) <= 1 THEN 1 ELSE 0 END FROM samples`,
    },
    lenient: '',
    identity: 'bigint NOT NULL IDENTITY(1, 1)',
    quoted: (name) => `[${name.replaceAll(']', ']]')}]`,
  }
}
