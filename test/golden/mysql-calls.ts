import type { GoldenCalls } from './postgres-calls.js'

export const MYSQL_CALLS: GoldenCalls = {
  'function without parameters': {
    text: 'SELECT `api`.`do "it"`()',
    params: [],
    columns: ['result'],
  },
  'function with arguments of every binding': {
    text: 'SELECT `api`.`do "it"`(?, ?, ?, ?, ?, ?, ?, IFNULL(ST_GeomFromText(?), \'no geometry\'), ?, ?)',
    params: [
      { type: 'integer', value: '1' },
      { type: 'unsigned', value: '18446744073709551615' },
      { type: 'decimal', value: '1.5' },
      { type: 'float', value: '0.1' },
      { type: 'bytes', value: 'AAH/' },
      { type: 'integer', value: '1' },
      '2024-02-28 22:30:00',
      'POINT(1 2)',
      '{"a":1}',
      'ok',
    ],
    columns: ['result'],
  },
  'function with NULL for an argument': {
    text: 'SELECT `api`.`do "it"`(?)',
    params: [null],
    columns: ['result'],
  },
  'function that gives a long text': {
    text: 'SELECT LEFT(`api`.`do "it"`(), 17)',
    params: [],
    columns: ['result'],
  },
  'function that gives a shape': {
    text: 'SELECT LEFT(ST_AsText(`api`.`do "it"`()), 4001)',
    params: [],
    columns: ['result'],
  },
  'function that gives bits': {
    text: 'SELECT `api`.`do "it"`() + 0',
    params: [],
    columns: ['result'],
  },
  'procedure that gives nothing': {
    text: 'CALL `api`.`do "it"`(?)',
    params: ['x'],
    columns: [],
    cells: [],
  },
  'procedure with outputs': {
    text: 'CALL `api`.`do "it"`(?, ?, ?, ?, ?)',
    params: [null, { type: 'integer', value: '1' }, 'x', { type: 'float', value: '0.1' }, null],
    columns: ['first', 'm', 'f', 'last'],
    cells: [0, 1, 2, 3],
  },
  'procedure with some of its outputs': {
    text: 'CALL `api`.`do "it"`(?, ?, ?, ?, ?)',
    params: [null, { type: 'integer', value: '1' }, null, { type: 'float', value: '0.1' }, null],
    columns: ['m', 'last'],
    cells: [1, 3],
  },
  'procedure with some columns of its result sets': {
    text: 'CALL `api`.`do "it"`(?, ?, ?, ?, ?)',
    params: [null, { type: 'integer', value: '1' }, 'x', { type: 'float', value: '0.1' }, null],
    columns: [],
    cells: [],
    sets: { names: ['one', 'Two'], cellCharsMax: 16 },
  },
}
