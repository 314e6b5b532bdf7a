import type { GoldenMutations } from './postgres-mutations.js'

export const MYSQL_MUTATIONS: GoldenMutations = {
  'create with values of every source': {
    write: {
      text: "INSERT INTO `public`.`customers` (`email`, `name`, `bio`, `created_at`, `tenant_id`) VALUES (?, ?, NULL, CURRENT_TIMESTAMP(6), ?) RETURNING `customers`.`id`, `customers`.`name`, LEFT(`customers`.`bio`, 4001), 't'",
      params: ['a@b.c', 'A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
  },
  'create of defaults alone': {
    write: { text: "INSERT INTO `public`.`customers` () VALUES () RETURNING `customers`.`id`, 't'", params: [] },
  },
  'create that returns nothing': {
    write: { text: "INSERT INTO `public`.`customers` (`name`) VALUES (?) RETURNING 't'", params: ['A'] },
  },
  'create in a scope': {
    write: {
      text: "INSERT INTO `public`.`customers` (`name`) VALUES (?) RETURNING `customers`.`id`, `customers`.`name`, LEFT(`customers`.`bio`, 4001), IF(`customers`.`tenant_id` = ? AND ((`customers`.`name` = ?) OR (`customers`.`ssn` IS NULL)), 't', 'f')",
      params: ['A', '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
  },
  'create in a scope that offers no group': {
    write: {
      text: "INSERT INTO `public`.`customers` (`name`) VALUES (?) RETURNING `customers`.`id`, `customers`.`name`, LEFT(`customers`.`bio`, 4001), IF(1 = 0, 't', 'f')",
      params: ['A'],
    },
  },
  'create in a table that does not return what is inserted': {
    write: {
      text: 'INSERT INTO `public`.`customers` (`id`, `name`) VALUES (?, ?)',
      params: [{ type: 'integer', value: '7' }, 'A'],
    },
    readBack: {
      text: "SELECT t.`id`, LEFT(t.`bio`, 4001), IF(t.`tenant_id` = ? AND ((t.`name` = ?) OR (t.`ssn` IS NULL)), 't', 'f') FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
        { type: 'integer', value: '7' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update in no scope': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`name` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY) AND t.`bio` IS NULL, 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['A', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `name` = ?, `bio` = NULL WHERE t.`id` = ?',
      params: ['A', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update in a scope': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`name` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? AND t.`tenant_id` = ? AND ((t.`name` = ?) OR (t.`ssn` IS NULL)) FOR UPDATE",
      params: ['A', { type: 'integer', value: '1' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `name` = ? WHERE t.`id` = ? AND t.`tenant_id` = ? AND ((t.`name` = ?) OR (t.`ssn` IS NULL))',
      params: ['A', { type: 'integer', value: '1' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', 'a'],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), IF(t.`tenant_id` = ? AND ((t.`name` = ?) OR (t.`ssn` IS NULL)), 't', 'f') FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        'a',
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of a column that the caller may not read': {
    lock: {
      text: "SELECT 't', 'f', t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [{ type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `ssn` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update whose written scope is another': {
    lock: {
      text: "SELECT 't', IF(t.`balance` <=> ?, 't', 'f'), t.`id`, t.`balance` FROM `public`.`customers` AS t WHERE t.`id` = ? AND t.`tenant_id` = ? AND t.`created_at` <=> NULL FOR UPDATE",
      params: [
        { type: 'decimal', value: '1.5000' },
        { type: 'integer', value: '1' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `balance` = ? WHERE t.`id` = ? AND t.`tenant_id` = ? AND t.`created_at` <=> NULL',
      params: [
        { type: 'decimal', value: '1.5000' },
        { type: 'integer', value: '1' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    readBack: {
      text: "SELECT t.`id`, t.`balance`, IF(t.`tenant_id` = ?, 't', 'f') FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update with expectations': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`name` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY) AND CAST(CONVERT(t.`email` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY) AND t.`bio` IS NULL AND t.`balance` = ?, 't', 'f'), IF(CAST(CONVERT(t.`name` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['B', 'x@y.z', { type: 'decimal', value: '2' }, 'A', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `name` = ? WHERE t.`id` = ?',
      params: ['A', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update that stamps the time': {
    lock: {
      text: "SELECT 't', 'f', t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [{ type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `name` = ?, `created_at` = CURRENT_TIMESTAMP(6) WHERE t.`id` = ?',
      params: ['A', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of the key': {
    lock: {
      text: "SELECT 't', IF(t.`id` <=> ?, 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `id` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of a unique column': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`email` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`email` FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['x@y.z', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `email` = ? WHERE t.`id` = ?',
      params: ['x@y.z', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`email`, 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update by a key that the policy alone warrants': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`bio` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`name` = ? LIMIT ? FOR UPDATE",
      params: ['x', 'A', { type: 'integer', value: '6' }],
    },
    write: { text: 'UPDATE `public`.`customers` AS t SET `bio` = ? WHERE t.`name` = ?', params: ['x', 'A'] },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`name` = ? LIMIT ?",
      params: ['A', { type: 'integer', value: '6' }],
    },
  },
  'dry run of an update': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`name` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['A', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `name` = ? WHERE t.`id` = ?',
      params: ['A', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), 't' FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'soft delete with a time': {
    lock: {
      text: "SELECT 't', 'f', t.`id`, t.`name`, LEFT(t.`bio`, 4001) FROM `public`.`customers` AS t WHERE t.`id` = ? AND t.`tenant_id` = ? AND t.`created_at` <=> NULL FOR UPDATE",
      params: [{ type: 'integer', value: '1' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
    write: {
      text: 'UPDATE `public`.`customers` AS t SET `created_at` = CURRENT_TIMESTAMP(6) WHERE t.`id` = ? AND t.`tenant_id` = ? AND t.`created_at` <=> NULL',
      params: [{ type: 'integer', value: '1' }, '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11'],
    },
    readBack: {
      text: "SELECT t.`id`, t.`name`, LEFT(t.`bio`, 4001), IF(t.`tenant_id` = ?, 't', 'f') FROM `public`.`customers` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'soft delete with a flag': {
    lock: {
      text: "SELECT 't', IF(t.`deleted` <=> ?, 't', 'f'), t.`id`, t.`deleted` FROM `public`.`flagged` AS t WHERE t.`id` = ? AND t.`deleted` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`flagged` AS t SET `deleted` = ? WHERE t.`id` = ? AND t.`deleted` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
      ],
    },
    readBack: {
      text: "SELECT t.`id`, t.`deleted`, 't' FROM `public`.`flagged` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update by a composite key': {
    lock: {
      text: "SELECT 't', IF(CAST(CONVERT(t.`note` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`order_id`, t.`line`, t.`quantity`, LEFT(t.`note`, 4001) FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? FOR UPDATE",
      params: ['n', { type: 'integer', value: '9' }, { type: 'integer', value: '2' }],
    },
    write: {
      text: 'UPDATE `public`.`order_lines` AS t SET `note` = ? WHERE t.`order_id` = ? AND t.`line` = ?',
      params: ['n', { type: 'integer', value: '9' }, { type: 'integer', value: '2' }],
    },
    readBack: {
      text: "SELECT t.`order_id`, t.`line`, t.`quantity`, LEFT(t.`note`, 4001), 't' FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of tinyint': {
    lock: {
      text: "SELECT IF(t.`c_tinyint` = ?, 't', 'f'), IF(t.`c_tinyint` <=> ?, 't', 'f'), t.`c_tinyint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_tinyint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_tinyint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of utinyint': {
    lock: {
      text: "SELECT IF(t.`c_utinyint` = ?, 't', 'f'), IF(t.`c_utinyint` <=> ?, 't', 'f'), t.`c_utinyint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_utinyint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_utinyint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of smallint': {
    lock: {
      text: "SELECT IF(t.`c_smallint` = ?, 't', 'f'), IF(t.`c_smallint` <=> ?, 't', 'f'), t.`c_smallint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_smallint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_smallint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of mediumint': {
    lock: {
      text: "SELECT IF(t.`c_mediumint` = ?, 't', 'f'), IF(t.`c_mediumint` <=> ?, 't', 'f'), t.`c_mediumint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_mediumint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_mediumint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of int': {
    lock: {
      text: "SELECT IF(t.`c_int` = ?, 't', 'f'), IF(t.`c_int` <=> ?, 't', 'f'), t.`c_int` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_int` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_int`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of uint': {
    lock: {
      text: "SELECT IF(t.`c_uint` = ?, 't', 'f'), IF(t.`c_uint` <=> ?, 't', 'f'), t.`c_uint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_uint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_uint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of year': {
    lock: {
      text: "SELECT IF(t.`c_year` = ?, 't', 'f'), IF(t.`c_year` <=> ?, 't', 'f'), t.`c_year` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_year` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_year`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of bits10': {
    lock: {
      text: "SELECT IF(t.`c_bits10` = ?, 't', 'f'), IF(t.`c_bits10` <=> ?, 't', 'f'), t.`c_bits10` + 0 FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_bits10` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_bits10` + 0, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of bigint': {
    lock: {
      text: "SELECT IF(t.`c_bigint` = ?, 't', 'f'), IF(t.`c_bigint` <=> ?, 't', 'f'), t.`c_bigint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_bigint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_bigint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of ubigint': {
    lock: {
      text: "SELECT IF(t.`c_ubigint` = ?, 't', 'f'), IF(t.`c_ubigint` <=> ?, 't', 'f'), t.`c_ubigint` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_ubigint` = ? WHERE t.`id` = ?',
      params: [
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_ubigint`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of bits64': {
    lock: {
      text: "SELECT IF(t.`c_bits64` = ?, 't', 'f'), IF(t.`c_bits64` <=> ?, 't', 'f'), t.`c_bits64` + 0 FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_bits64` = ? WHERE t.`id` = ?',
      params: [
        { type: 'unsigned', value: '18446744073709551615' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_bits64` + 0, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of decimal': {
    lock: {
      text: "SELECT IF(t.`c_decimal` = ?, 't', 'f'), IF(t.`c_decimal` <=> ?, 't', 'f'), t.`c_decimal` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'decimal', value: '1.5' },
        { type: 'decimal', value: '1.5' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_decimal` = ? WHERE t.`id` = ?',
      params: [
        { type: 'decimal', value: '1.5' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_decimal`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of longDecimal': {
    lock: {
      text: "SELECT IF(t.`c_longDecimal` = ?, 't', 'f'), IF(t.`c_longDecimal` <=> ?, 't', 'f'), t.`c_longDecimal` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'decimal', value: '1' },
        { type: 'decimal', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_longDecimal` = ? WHERE t.`id` = ?',
      params: [
        { type: 'decimal', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_longDecimal`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of float': {
    lock: {
      text: "SELECT IF(t.`c_float` = ?, 't', 'f'), IF(t.`c_float` <=> ?, 't', 'f'), t.`c_float` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'float', value: '0.10000000149011612' },
        { type: 'float', value: '0.10000000149011612' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_float` = ? WHERE t.`id` = ?',
      params: [
        { type: 'float', value: '0.1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_float`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of double': {
    lock: {
      text: "SELECT IF(t.`c_double` = ?, 't', 'f'), IF(t.`c_double` <=> ?, 't', 'f'), t.`c_double` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'float', value: '0.1' },
        { type: 'float', value: '0.1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_double` = ? WHERE t.`id` = ?',
      params: [
        { type: 'float', value: '0.1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_double`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of flag': {
    lock: {
      text: "SELECT IF(t.`c_flag` = ?, 't', 'f'), IF(t.`c_flag` <=> ?, 't', 'f'), t.`c_flag` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_flag` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_flag`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of bit': {
    lock: {
      text: "SELECT IF(t.`c_bit` = ?, 't', 'f'), IF(t.`c_bit` <=> ?, 't', 'f'), t.`c_bit` + 0 FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_bit` = ? WHERE t.`id` = ?',
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT t.`c_bit` + 0, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of exact': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_exact` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_exact` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_exact`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['a', 'a', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_exact` = ? WHERE t.`id` = ?',
      params: ['a', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_exact`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of binary': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_binary` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_binary` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_binary`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['1', '1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_binary` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_binary`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of folded': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_folded` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_folded` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_folded`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['1', '1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_folded` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_folded`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of fixed': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_fixed` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_fixed` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`c_fixed` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['1', '1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_fixed` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_fixed`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of latin1': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_latin1` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_latin1` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_latin1`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['€', '€', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_latin1` = ? WHERE t.`id` = ?',
      params: ['€', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_latin1`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of ascii': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_ascii` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_ascii` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_ascii`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['é', 'é', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_ascii` = ? WHERE t.`id` = ?',
      params: ['é', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_ascii`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of bmp': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_bmp` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_bmp` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_bmp`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['😀', '😀', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_bmp` = ? WHERE t.`id` = ?',
      params: ['😀', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_bmp`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of greek': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_greek` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_greek` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_greek`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['ά', 'ά', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_greek` = ? WHERE t.`id` = ?',
      params: ['ά', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_greek`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of longtext': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_longtext` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_longtext` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_longtext`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['1', '1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_longtext` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_longtext`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of wide': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_wide` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_wide` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_wide`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['1', '1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_wide` = ? WHERE t.`id` = ?',
      params: ['1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_wide`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of datetime': {
    lock: {
      text: "SELECT IF(t.`c_datetime` = ?, 't', 'f'), IF(t.`c_datetime` <=> ?, 't', 'f'), t.`c_datetime` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['2024-02-29 10:00:00.25', '2024-02-29 10:00:00.25', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_datetime` = ? WHERE t.`id` = ?',
      params: ['2024-02-29 10:00:00.25', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_datetime`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of datetime0': {
    lock: {
      text: "SELECT IF(t.`c_datetime0` = ?, 't', 'f'), IF(t.`c_datetime0` <=> ?, 't', 'f'), t.`c_datetime0` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['2024-02-29 10:00:00', '2024-02-29 10:00:00', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_datetime0` = ? WHERE t.`id` = ?',
      params: ['2024-02-29 10:00:00', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_datetime0`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of timestamp': {
    lock: {
      text: "SELECT IF(t.`c_timestamp` = ?, 't', 'f'), IF(t.`c_timestamp` <=> ?, 't', 'f'), t.`c_timestamp` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['2024-02-28 22:30:00.5', '2024-02-28 22:30:00.5', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_timestamp` = ? WHERE t.`id` = ?',
      params: ['2024-02-28 22:30:00.5', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_timestamp`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of date': {
    lock: {
      text: "SELECT IF(t.`c_date` = ?, 't', 'f'), IF(t.`c_date` <=> ?, 't', 'f'), t.`c_date` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['2024-02-29', '2024-02-29', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_date` = ? WHERE t.`id` = ?',
      params: ['2024-02-29', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_date`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of time': {
    lock: {
      text: "SELECT IF(t.`c_time` = ?, 't', 'f'), IF(t.`c_time` <=> ?, 't', 'f'), t.`c_time` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['-100:00:01.5', '-100:00:01.5', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_time` = ? WHERE t.`id` = ?',
      params: ['-100:00:01.5', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_time`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of uuid': {
    lock: {
      text: "SELECT IF(t.`c_uuid` = ?, 't', 'f'), IF(t.`c_uuid` <=> ?, 't', 'f'), t.`c_uuid` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_uuid` = ? WHERE t.`id` = ?',
      params: ['7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_uuid`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of json': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`c_json` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(t.`c_json` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_json`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['{"a":1}', '{"a":1}', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_json` = ? WHERE t.`id` = ?',
      params: ['{"a":1}', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_json`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of varbinary': {
    lock: {
      text: "SELECT IF(t.`c_varbinary` = ?, 't', 'f'), IF(t.`c_varbinary` <=> ?, 't', 'f'), SUBSTRING(t.`c_varbinary`, 1, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'bytes', value: 'AAH/' },
        { type: 'bytes', value: 'AAH/' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_varbinary` = ? WHERE t.`id` = ?',
      params: [
        { type: 'bytes', value: 'AAH/' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT SUBSTRING(t.`c_varbinary`, 1, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of fixedBytes': {
    lock: {
      text: "SELECT IF(t.`c_fixedBytes` = ?, 't', 'f'), IF(t.`c_fixedBytes` <=> ?, 't', 'f'), SUBSTRING(t.`c_fixedBytes`, 1, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'bytes', value: 'AAH/AA==' },
        { type: 'bytes', value: 'AAH/AA==' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_fixedBytes` = ? WHERE t.`id` = ?',
      params: [
        { type: 'bytes', value: 'AAH/AA==' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT SUBSTRING(t.`c_fixedBytes`, 1, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of blob': {
    lock: {
      text: "SELECT IF(t.`c_blob` = ?, 't', 'f'), IF(t.`c_blob` <=> ?, 't', 'f'), SUBSTRING(t.`c_blob`, 1, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: [
        { type: 'bytes', value: 'AAH/' },
        { type: 'bytes', value: 'AAH/' },
        { type: 'integer', value: '1' },
      ],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_blob` = ? WHERE t.`id` = ?',
      params: [
        { type: 'bytes', value: 'AAH/' },
        { type: 'integer', value: '1' },
      ],
    },
    readBack: {
      text: "SELECT SUBSTRING(t.`c_blob`, 1, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of mood': {
    lock: {
      text: "SELECT IF(t.`c_mood` = ?, 't', 'f'), IF(CAST(CONVERT(t.`c_mood` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`c_mood` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ["it's", "it's", { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_mood` = ? WHERE t.`id` = ?',
      params: ["it's", { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_mood`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of set': {
    lock: {
      text: "SELECT IF(t.`c_set` = ?, 't', 'f'), IF(CAST(CONVERT(t.`c_set` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(t.`c_set`, 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['a,b', 'a,b', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_set` = ? WHERE t.`id` = ?',
      params: ['a,b', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(t.`c_set`, 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of inet6': {
    lock: {
      text: "SELECT IF(t.`c_inet6` = ?, 't', 'f'), IF(CAST(CONVERT(t.`c_inet6` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), t.`c_inet6` FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['::1', '::1', { type: 'integer', value: '1' }],
    },
    write: {
      text: 'UPDATE `public`.`samples` AS t SET `c_inet6` = ? WHERE t.`id` = ?',
      params: ['::1', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT t.`c_inet6`, 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update of point': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(ST_AsText(t.`c_point`) USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), IF(CAST(CONVERT(ST_AsText(t.`c_point`) USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), LEFT(ST_AsText(t.`c_point`), 17) FROM `public`.`samples` AS t WHERE t.`id` = ? FOR UPDATE",
      params: ['POINT(1 2)', 'POINT(1 2)', { type: 'integer', value: '1' }],
    },
    write: {
      text: "UPDATE `public`.`samples` AS t SET `c_point` = IFNULL(ST_GeomFromText(?), 'no geometry') WHERE t.`id` = ?",
      params: ['POINT(1 2)', { type: 'integer', value: '1' }],
    },
    readBack: {
      text: "SELECT LEFT(ST_AsText(t.`c_point`), 17), 't' FROM `public`.`samples` AS t WHERE t.`id` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'create with a parent': {
    write: {
      text: 'INSERT INTO `public`.`order_lines` (`order_id`, `line`, `quantity`) VALUES (?, ?, ?)',
      params: [
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '4' },
      ],
    },
    readBack: {
      text: "SELECT t.`order_id`, LEFT(t.`note`, 4001), IF(EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`order_id` AND p1.`tenant_id` = ?), 't', 'f') FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update with a parent': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`note` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), 'f', t.`line` FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? AND EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`order_id` AND p1.`tenant_id` = ?) FOR UPDATE",
      params: [
        'n',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    write: {
      text: 'UPDATE `public`.`order_lines` AS t SET `quantity` = ? WHERE t.`order_id` = ? AND t.`line` = ? AND EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`order_id` AND p1.`tenant_id` = ?)',
      params: [
        { type: 'integer', value: '4' },
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
      ],
    },
    readBack: {
      text: "SELECT t.`line`, IF(EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`order_id` AND p1.`tenant_id` = ?), 't', 'f') FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? LIMIT ?",
      params: [
        '7f1c7a52-0a8e-4f0e-9f53-2a1d0b7c9e11',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'create with parents of parents': {
    write: {
      text: 'INSERT INTO `public`.`order_lines` (`order_id`, `line`, `quantity`) VALUES (?, ?, ?)',
      params: [
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '4' },
      ],
    },
    readBack: {
      text: "SELECT t.`order_id`, LEFT(t.`note`, 4001), IF(t.`quantity` > ? AND ((EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`line` AND p1.`balance` = t.`order_id` AND EXISTS (SELECT 1 FROM `public`.`flagged` AS p2 WHERE p2.`id` = p1.`balance` AND p2.`deleted` = ?) AND ((p1.`name` = ? AND EXISTS (SELECT 1 FROM `public`.`prices` AS p2 WHERE p2.`email` = p1.`email`)) OR (p1.`ssn` IS NULL)))) OR (t.`note` IS NULL)), 't', 'f') FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
  'update with parents of parents': {
    lock: {
      text: "SELECT IF(CAST(CONVERT(t.`note` USING utf8mb4) AS BINARY) <=> CAST(? AS BINARY), 't', 'f'), 'f', t.`line` FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? AND t.`quantity` > ? AND ((EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`line` AND p1.`balance` = t.`order_id` AND EXISTS (SELECT 1 FROM `public`.`flagged` AS p2 WHERE p2.`id` = p1.`balance` AND p2.`deleted` = ?) AND ((p1.`name` = ? AND EXISTS (SELECT 1 FROM `public`.`prices` AS p2 WHERE p2.`email` = p1.`email`)) OR (p1.`ssn` IS NULL)))) OR (t.`note` IS NULL)) FOR UPDATE",
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
      text: 'UPDATE `public`.`order_lines` AS t SET `quantity` = ? WHERE t.`order_id` = ? AND t.`line` = ? AND t.`quantity` > ? AND ((EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`line` AND p1.`balance` = t.`order_id` AND EXISTS (SELECT 1 FROM `public`.`flagged` AS p2 WHERE p2.`id` = p1.`balance` AND p2.`deleted` = ?) AND ((p1.`name` = ? AND EXISTS (SELECT 1 FROM `public`.`prices` AS p2 WHERE p2.`email` = p1.`email`)) OR (p1.`ssn` IS NULL)))) OR (t.`note` IS NULL))',
      params: [
        { type: 'integer', value: '4' },
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
      ],
    },
    readBack: {
      text: "SELECT t.`line`, IF(t.`quantity` > ? AND ((EXISTS (SELECT 1 FROM `public`.`customers` AS p1 WHERE p1.`id` = t.`line` AND p1.`balance` = t.`order_id` AND EXISTS (SELECT 1 FROM `public`.`flagged` AS p2 WHERE p2.`id` = p1.`balance` AND p2.`deleted` = ?) AND ((p1.`name` = ? AND EXISTS (SELECT 1 FROM `public`.`prices` AS p2 WHERE p2.`email` = p1.`email`)) OR (p1.`ssn` IS NULL)))) OR (t.`note` IS NULL)), 't', 'f') FROM `public`.`order_lines` AS t WHERE t.`order_id` = ? AND t.`line` = ? LIMIT ?",
      params: [
        { type: 'integer', value: '1' },
        { type: 'integer', value: '0' },
        'a',
        { type: 'integer', value: '9' },
        { type: 'integer', value: '2' },
        { type: 'integer', value: '2' },
      ],
    },
  },
}
