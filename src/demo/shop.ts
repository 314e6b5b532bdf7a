/** The demo's database: a small shop, generated in SQL from arithmetic alone, so that every run has the same rows. */

export const SHOP_SCHEMA = `
CREATE TYPE region AS ENUM ('eu', 'us', 'apac');
CREATE TYPE order_status AS ENUM ('pending', 'paid', 'shipped', 'delivered', 'returned');

CREATE TABLE customers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  phone text,
  region region NOT NULL,
  newsletter boolean NOT NULL DEFAULT false,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE customers IS 'People who have an account in the shop.';
COMMENT ON COLUMN customers.region IS 'Sales region the account belongs to.';
COMMENT ON COLUMN customers.password_hash IS 'Never leaves the shop.';

CREATE TABLE products (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sku text NOT NULL UNIQUE,
  name text NOT NULL,
  category text NOT NULL,
  price numeric(10,2) NOT NULL,
  stock integer NOT NULL,
  attributes jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE products IS 'What the shop sells.';
COMMENT ON COLUMN products.price IS 'Current list price in euros.';

CREATE TABLE orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers,
  region region NOT NULL,
  status order_status NOT NULL,
  total numeric(12,2) NOT NULL,
  ordered_at timestamptz NOT NULL
);
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON orders (ordered_at);
COMMENT ON TABLE orders IS 'One row an order; its lines are in order_items.';

CREATE TABLE order_items (
  order_id bigint NOT NULL REFERENCES orders,
  line integer NOT NULL,
  product_id integer NOT NULL REFERENCES products,
  quantity integer NOT NULL,
  unit_price numeric(10,2) NOT NULL,
  PRIMARY KEY (order_id, line)
);
CREATE INDEX ON order_items (product_id);
COMMENT ON COLUMN order_items.unit_price IS 'Price a piece at the time of the order, in euros.';

CREATE TABLE margins (
  product_id integer PRIMARY KEY REFERENCES products,
  purchase_price numeric(10,2) NOT NULL
);
COMMENT ON TABLE margins IS 'What the shop pays. Not for anybody outside of purchasing.';
`

export const SHOP_ROWS = `
INSERT INTO customers (name, email, phone, region, newsletter, password_hash, created_at)
SELECT first || ' ' || last,
       lower(first) || '.' || lower(last) || n || '@example.com',
       CASE WHEN n % 7 = 0 THEN NULL ELSE '+49 30 ' || lpad((n * 7919 % 1000000)::text, 6, '0') END,
       (ARRAY['eu', 'us', 'apac'])[1 + n % 3]::region,
       n % 2 = 0,
       md5('secret' || n),
       timestamptz '2023-01-01 08:00:00+00' + n * interval '31 hours 7 minutes'
FROM generate_series(1, 600) AS n,
LATERAL (SELECT (ARRAY['Ada','Bela','Chloe','Deniz','Emil','Fatima','Goro','Hana','Ines','Jonas'])[1 + n % 10] AS first,
                (ARRAY['Alvarez','Brandt','Castro','Dubois','Eriksen','Fontana','Graf','Haddad','Ito'])[1 + n % 9] AS last) AS names;

INSERT INTO products (sku, name, category, price, stock, attributes)
SELECT upper(left(category, 3)) || '-' || lpad(n::text, 4, '0'),
       initcap(material) || ' ' || thing,
       category,
       round((5 + n * 37 % 400 + 0.99)::numeric, 2),
       n * 13 % 250,
       jsonb_build_object('material', material, 'weight_g', 100 + n * 53 % 4000)
FROM generate_series(1, 120) AS n,
LATERAL (SELECT (ARRAY['kitchen','office','garden','travel'])[1 + n % 4] AS category,
                (ARRAY['steel','oak','linen','ceramic','leather'])[1 + n % 5] AS material,
                (ARRAY['kettle','lamp','planter','backpack','tray','stand'])[1 + n % 6] AS thing) AS parts;

INSERT INTO orders (customer_id, region, status, total, ordered_at)
SELECT c.id, c.region,
       (ARRAY['pending','paid','shipped','delivered','delivered','delivered','returned'])[1 + n % 7]::order_status,
       0,
       timestamptz '2024-01-01 00:00:00+00' + n * interval '3 hours 11 minutes'
FROM generate_series(1, 3000) AS n
JOIN customers AS c ON c.id = 1 + n * 17 % 600;

INSERT INTO order_items (order_id, line, product_id, quantity, unit_price)
SELECT o.id, line, p.id, 1 + (o.id + line) % 4, p.price
FROM orders AS o
CROSS JOIN LATERAL generate_series(1, 1 + (o.id % 4)::integer) AS line
JOIN products AS p ON p.id = 1 + (o.id * 7 + line * 31) % 120;

UPDATE orders SET total = (SELECT sum(quantity * unit_price) FROM order_items WHERE order_id = orders.id);
INSERT INTO margins SELECT id, round(price * 0.6, 2) FROM products;
ANALYZE;
`

/** The analyst reads everything but contact details; support reads its own region's customers and orders, nothing else. */
export const SHOP_POLICY = `
version: 1
defaults: { row_cap: 200, page_size: 50, query_timeout_ms: 5000 }
tables:
  public.customers: { mask: [password_hash] }
  public.products: {}
  public.orders: {}
  public.order_items: {}
roles:
  analyst:
    read: ['*']
    mask: { public.customers: [name, email, phone] }
  support:
    read: [public.customers, public.orders]
    row_filter:
      public.customers: [ { column: region, op: eq, value: { claim: region } } ]
      public.orders: [ { column: region, op: eq, value: { claim: region } } ]
`
