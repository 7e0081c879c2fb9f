-- Adds ready segments to a queue that is being built. ARGV[3] builder, then lo, hi, order of each. {'ok'} | {'lost'}
if not is_being_built(ARGV[3]) then return {'lost'} end
for i = 4, #ARGV, 3 do
  add_segment(whole(ARGV[i], 'lo'), whole(ARGV[i + 1], 'hi'), whole(ARGV[i + 2], 'order'), '')
end
return {'ok'}
