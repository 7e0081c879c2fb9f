-- ARGV[3] segment, ARGV[4] fence, ARGV[5] unit, ARGV[6] worker, ARGV[7] what is kept of the unit (JSON), ARGV[8] seconds
-- that it would have taken a worker of speed 1, ARGV[9] seconds that it took; 0: not known.
-- {'ok', hi, again} | {'lost'} | {'hole', unit}: that unit before this one is not done | {'more'}: call it again, so many
-- are done before it | {'absent'}
if not present() then return {'absent'} end

-- What a worker's speed is now counts more than what it was.
local function credit(name, units, work, seconds)
  local w = redis.call('HMGET', key('worker:' .. name), 'units', 'work', 'busy')
  local what = 'worker:' .. string.sub(name, 1, 40)
  units = string.format('%d', units + whole(w[1] or '0', what .. ': units'))
  if work <= 0 or seconds <= 0 then return redis.call('HSET', key('worker:' .. name), 'units', units) end
  work = work + measure(w[2] or '0', what .. ': work') / 2
  seconds = seconds + measure(w[3] or '0', what .. ': busy') / 2
  redis.call('HSET', key('worker:' .. name), 'units', units, 'work', string.format('%.6g', work), 'busy',
             string.format('%.6g', seconds), 'speed', string.format('%.6g', work / seconds))
end

-- The segment in which the same unit is executed as well, if there is one.
local function other_is_done(other, done)
  local o = other and find_segment(other)
  if not o or o.state == 'done' or o.cur ~= done then return end
  redis.call('HSET', seg(other), 'cur', done + 1)
  if done + 1 >= o.hi then finish(other) end
end

local id, unit, worker = ARGV[3], whole(ARGV[5], 'the unit'), ARGV[6]
local work, seconds = measure(ARGV[8], 'the work'), measure(ARGV[9], 'the time')
local s = find_segment(id)
if not s or s.fence ~= ARGV[4] or unit < s.lo or unit >= s.hi then return {'lost'} end
-- The segment ends with its last unit, so a commit repeated after a time-out may find it done.
if s.state == 'done' then return {'ok', s.hi, 1} end
if s.state ~= 'running' then return {'lost'} end
for before = s.cur, math.min(unit, s.cur + MOST) - 1 do
  if redis.call('HEXISTS', key('done'), string.format('%d', before)) == 0 then return {'hole', before} end
end
if unit > s.cur + MOST then
  redis.call('HSET', seg(id), 'cur', s.cur + MOST)
  return {'more'}
end

local first = keep_done(unit, ARGV[7])
outlive_meta('done')
local next = math.max(s.cur, unit + 1)
redis.call('HSET', seg(id), 'tries', 0, 'error', '', 'cur', next, 'from', next, 'since', string.format('%.0f', now_ms()))
redis.call('ZADD', key('lease'), lease_until(), id)
credit(worker, first, work, seconds)
heard_of(worker)
event('commit', id, unit, worker, 'again', 1 - first)
if unit + 1 >= s.hi then finish(id) end
other_is_done(s.copy or s.copy_of, unit)
return {'ok', s.hi, 1 - first}
